"""The first run leads from nothing to a model that answers, on one page."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.urls import reverse

from ai_assistant import conf
from ai_assistant.configuration.profiles import key_of
from ai_assistant.models import AuditEntry, Profile
from ai_assistant.providers import readiness
from ai_assistant.providers.readiness import missing_of
from tests.model_server.scripts import call, status, text
from tests.web.markup import one_with

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.servers,
    pytest.mark.row("V02"),
]

PAGE = reverse("admin:ai_assistant_profile_first_run")
SERVER = f"{PAGE}?provider=server"
CANARY = "sk-canary-77e2f0a1b3"


@pytest.fixture(autouse=True)
def unset(settings, model_server, monkeypatch):
    """Begin with no profile, and let the form name the scripted server."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    host = model_server.url.removeprefix("http://")
    own = {"PROFILES": {"default": {}}, "MODEL_HOSTS": [host]}
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, **own}


@pytest.fixture
def answers(model_server, monkeypatch):
    """Let the server say this to the two prompts of a test."""

    def script(first, second):
        model_server.script("first", [[first]])
        model_server.script("second", [[second]])

    monkeypatch.setattr(readiness, "TRY_PROMPT", "Say OK [[script:first]]")
    monkeypatch.setattr(readiness, "TOOL_PROMPT", "Call [[script:second]]")
    return script


@pytest.fixture
def save(admin_client, model_server):
    def save(key=CANARY, address=SERVER, **fields):
        values = {"model": "openai/scripted", "api_base": model_server.base}
        return admin_client.post(
            address, {**values, "api_key": key, **fields}, follow=True
        )

    return save


def step(answer):
    return answer.context["step"]


def told(answer):
    return " ".join(map(str, answer.context["messages"]))


class TestWay:
    def test_begins_with_the_providers(self, admin_client):
        answer = admin_client.get(PAGE)

        assert step(answer) == 1
        assert f"{PAGE}?provider=anthropic" in answer.content.decode()

    def test_panel_that_has_led_there_does_not_cover_the_page(self, admin_client):
        admin_client.cookies["aia_ui"] = "o=1&m=float&w=400"

        page = admin_client.get(PAGE)

        assert page.cookies["aia_ui"].value == "o=0&m=float&w=400"
        assert one_with(page.content.decode(), id="aia")["data-state"] == "closed"

    def test_wrong_key_is_said_and_then_the_right_one_leads_to_the_question(
        self, save, answers
    ):
        answers(status(401), text(""))
        refused = save("sk-wrong")
        answers(text("OK"), call("report_ready", {}))
        done = save()

        assert (step(refused), step(done)) == (2, 3)
        assert "refused the key" in told(refused)
        assert "It calls tools." in told(done)
        assert 'data-aia-ask="What can you look up here?"' in done.content.decode()
        assert missing_of("default") == ""
        assert conf.profile()["API_KEY"] == CANARY
        actions = AuditEntry.objects.values_list("action", flat=True)
        assert {*actions} == {"settings.added", "settings.changed"}

    def test_key_is_not_given_back(self, save):
        answer = save(address=f"{PAGE}?provider=openai", model="")

        assert step(answer) == 2
        assert CANARY not in answer.content.decode()

    def test_provider_with_a_key_wants_one(self, save):
        answer = save(key="", address=f"{PAGE}?provider=openai")

        assert "api_key" in answer.context["form"].errors
        assert not Profile.objects.exists()

    def test_key_of_the_environment_will_do(self, admin_client, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)

        answer = admin_client.get(f"{PAGE}?provider=openai")

        assert "OPENAI_API_KEY" in answer.content.decode()
        assert not answer.context["form"].fields["api_key"].required

    def test_another_provider_drops_the_key_of_the_one_before(
        self, save, answers, model_server, monkeypatch
    ):
        monkeypatch.setenv("MISTRAL_API_KEY", "sk-of-the-server")
        answers(text("OK"), call("report_ready", {}))
        save()
        row = Profile.objects.get()
        assert key_of(row).value == CANARY

        monkeypatch.setenv("MISTRAL_API_BASE", model_server.base)
        save(key="", address=f"{PAGE}?provider=mistral", model="mistral/scripted")

        row.refresh_from_db()
        assert (row.model, row.api_base) == ("mistral/scripted", "")
        assert key_of(row).state == "none"

    def test_another_provider_drops_the_variable_of_the_one_before(
        self, save, answers, model_server, monkeypatch
    ):
        monkeypatch.setenv("MISTRAL_API_KEY", "sk-of-the-server")
        variable = {"api_key_env": "MISTRAL_API_KEY"}
        Profile.objects.create(name="default", model="mistral/x", **variable)
        answers(text("OK"), call("report_ready", {}))

        save(key="")

        row = Profile.objects.get()
        assert (row.api_base, row.api_key_env) == (model_server.base, "")

    def test_private_address_is_refused_at_its_field(self, save):
        answer = save(api_base="https://10.0.0.1/v1")

        assert "private address" in str(answer.context["form"].errors["api_base"])


@pytest.mark.parametrize(
    ("codename", "is_there", "code"),
    [
        ("add_profile", False, 200),
        ("add_profile", True, 403),
        ("change_profile", True, 200),
        ("view_profile", False, 403),
    ],
)
def test_needs_the_permission_to_save_the_profile(client, codename, is_there, code):
    user = get_user_model().objects.create_user("grace", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename=codename))
    client.force_login(user)
    if is_there:
        Profile.objects.create(name="default", model="openai/x")

    assert client.get(PAGE).status_code == code
    assert client.post(SERVER, {}).status_code == code


def test_start_page_leads_there_while_no_model_answers(admin_client):
    page = reverse("admin:app_list", args=["ai_assistant"])
    before = admin_client.get(page).content.decode()
    Profile.objects.create(name="default", model="openai/x", api_base="https://a.test")

    assert f'href="{PAGE}"' in before
    assert f'href="{PAGE}"' not in admin_client.get(page).content.decode()


@pytest.mark.parametrize("before", [{}, {"api_base": "https://a.test", "model": "x"}])
def test_offline_model_answers_without_a_key(admin_client, save, before):
    if before:
        Profile.objects.create(name="default", api_key_env="X_API_KEY", **before)

    answer = admin_client.post(f"{PAGE}?provider=offline", follow=True)

    assert step(answer) == 3
    row = Profile.objects.get()
    assert (row.provider, row.model, row.api_base) == ("offline", "offline", "")
    assert missing_of("default") == ""
