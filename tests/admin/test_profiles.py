"""Model profiles are kept in the admin; a key goes in and never comes out."""

import json
import sys
from io import StringIO

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.core.signals import got_request_exception
from django.urls import reverse
from django.views.debug import ExceptionReporter

from ai_assistant import conf
from ai_assistant.configuration.profiles import key_of
from ai_assistant.configuration.rows import refresh
from ai_assistant.models import Agent, AuditEntry, Profile
from ai_assistant.providers import readiness
from tests.model_server.scripts import call, status, text

pytestmark = [pytest.mark.django_db, pytest.mark.row("V02")]

LIST = reverse("admin:ai_assistant_profile_changelist")
ADD = reverse("admin:ai_assistant_profile_add")
CANARY = "sk-canary-5f1d9c0b7a3e4826"
EMPTY = dict.fromkeys(
    (
        *("api_base", "api_key", "api_key_env", "provider", "label", "fallback"),
        *("reasoning", "window_tokens", "first_byte_s", "idle_s", "model_call_s"),
        *("input_usd_per_mtok", "output_usd_per_mtok"),
    ),
    "",
)


def posted(**fields):
    base = {**EMPTY, "name": "mine", "model": "openai/x", "is_active": "on"}
    return {**base, "options": "{}", **fields}


def change_url(row):
    return reverse("admin:ai_assistant_profile_change", args=[row.pk])


def sentences(answer):
    """Return what is said at the fields of a form that was not saved."""
    assert answer.status_code == 200
    errors = answer.context["adminform"].form.errors
    return {name: " ".join(said) for name, said in errors.items()}


def told(answer):
    """Return what the page after a save says."""
    return " ".join(str(message) for message in answer.context["messages"])


@pytest.fixture
def local(settings, model_server):
    """Let the profiles of the admin name the scripted server."""
    host = model_server.url.removeprefix("http://")
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "MODEL_HOSTS": [host]}
    return model_server.base


@pytest.fixture
def made(admin_client):
    """Return a profile as the form makes it."""

    def make(**fields):
        answer = admin_client.post(ADD, posted(**fields))
        assert answer.status_code == 302, sentences(answer)
        return Profile.objects.get(name=fields.get("name", "mine"))

    return make


class TestKey:
    def test_key_is_nowhere_to_be_read(self, admin_client, made, caplog):
        row = made(api_key=CANARY)
        refresh()
        assert conf.profile("mine")["API_KEY"] == CANARY

        admin_client.post(change_url(row), posted(label="Mine", api_key=CANARY))
        admin_client.post(change_url(row), posted(model="", api_key=CANARY))
        addresses = admin_client.get("/assistant/api/").json()["addresses"]
        pages = [
            admin_client.get(path).content.decode()
            for path in (
                *addresses.values(),
                change_url(row),
                LIST,
                reverse("admin:ai_assistant_profile_history", args=[row.pk]),
                reverse("admin:ai_assistant_configurationfile_save", args=["yaml"]),
                reverse("admin:ai_assistant_configurationfile_save", args=["json"]),
                reverse("admin:app_list", args=["ai_assistant"]),
                "/admin/",
                reverse("ai_assistant:model"),
            )
        ]
        dumped = StringIO()
        call_command("dumpdata", "ai_assistant", "admin", stdout=dumped)
        logged = list(LogEntry.objects.values_list("change_message", flat=True))
        audited = list(AuditEntry.objects.values_list("details", flat=True))
        everything = json.dumps(
            [pages, dumped.getvalue(), logged, audited, caplog.text], default=str
        )

        assert "settings.changed" in AuditEntry.objects.values_list("action", flat=True)
        assert "API key" in " ".join(logged)
        assert '"tools":' in pages[list(addresses).index("registry")]
        assert any("- name: mine" in page for page in pages)  # in the file
        assert CANARY not in everything
        assert Profile.objects.get().api_key_encrypted not in " ".join(pages)

    def test_form_that_is_refused_does_not_give_the_key_back(self, admin_client):
        answer = admin_client.post(ADD, posted(model="", api_key=CANARY))

        assert sentences(answer)
        assert CANARY not in answer.content.decode()

    def test_empty_field_keeps_the_key(self, admin_client, made):
        row = made(api_key=CANARY)

        admin_client.post(change_url(row), posted(label="Mine"))

        row.refresh_from_db()
        assert (row.label, key_of(row).value) == ("Mine", CANARY)

    def test_key_is_removed_when_told_to(self, admin_client, made):
        row = made(api_key=CANARY)

        admin_client.post(change_url(row), posted(remove_key="on"))

        row.refresh_from_db()
        assert row.api_key_encrypted == ""

    @pytest.mark.parametrize(
        "elsewhere",
        [{"model": "groq/x"}, {"api_base": "https://example.com/v1"}],
    )
    def test_key_is_not_sent_elsewhere_until_it_is_entered_again(
        self, admin_client, made, elsewhere
    ):
        row = made(api_key=CANARY)

        refused = admin_client.post(change_url(row), posted(**elsewhere))
        assert "is not sent to this one" in sentences(refused)["api_key"]
        for name, value in elsewhere.items():
            Profile.objects.filter(pk=row.pk).update(**{name: value})
        row.refresh_from_db()
        row.save()  # by a way around the form
        refresh()
        assert "API_KEY" not in conf.profile("mine")
        assert "entered for another address" in conf.profile("mine")["PROBLEM"]

        again = admin_client.post(change_url(row), posted(api_key=CANARY, **elsewhere))
        assert again.status_code == 302
        refresh()
        assert conf.profile("mine")["API_KEY"] == CANARY

    def test_unreadable_key_is_told_at_the_field_and_on_the_start_page(
        self, admin_client, made, settings
    ):
        row = made(api_key=CANARY)
        settings.SECRET_KEY = "another one, and the former is no fallback"
        admin_client.force_login(get_user_model().objects.get())
        row.save()
        start = admin_client.get(reverse("admin:app_list", args=["ai_assistant"]))

        page = admin_client.get(change_url(row)).content.decode()
        assert "cannot be read with this site's SECRET_KEY" in page
        assert "a usable key of profile “mine”" in start.content.decode()
        refused = admin_client.post(change_url(row), posted())
        assert "Enter it again" in sentences(refused)["api_key"]

    def test_report_of_an_error_hides_the_key(self, admin_client, monkeypatch):
        """As it is sent to ADMINS: what was posted, and the variables of each frame."""
        admin_client.raise_request_exception = False
        reports = []

        def fail(*_):
            raise RuntimeError

        def report(*, request, **_):
            reporter = ExceptionReporter(request, *sys.exc_info())
            reports.append(reporter.get_traceback_html())

        monkeypatch.setattr("ai_assistant.safety.identity.session.site_key", fail)
        got_request_exception.connect(report)
        answer = admin_client.post(ADD, posted(api_key=CANARY))
        got_request_exception.disconnect(report)

        assert answer.status_code == 500
        (page,) = reports
        assert "keep_key" in page
        assert CANARY not in page


class TestForm:
    @pytest.mark.parametrize(
        ("fields", "at", "sentence"),
        [
            ({"api_base": "http://example.com/v1"}, "api_base", "Begin it with https"),
            ({"api_base": "https://10.0.0.1/v1"}, "api_base", "a private address"),
            ({"api_base": "https://a:b@example.com"}, "api_base", "its own field"),
            ({"name": "default", "is_active": ""}, "is_active", "All conversations"),
            ({"model": "ollama/x"}, "api_base", "need a base URL"),
            ({"fallback": "gone"}, "fallback", "no other profile “gone”"),
            ({"fallback": "mine"}, "fallback", "no other profile “mine”"),
            ({"options": '{"api_base": "x"}'}, "options", "cannot be set here"),
            ({"reasoning": "much"}, "reasoning", "Use one of"),
            ({"input_usd_per_mtok": "1"}, "output_usd_per_mtok", "both prices"),
            ({"api_key": "a b"}, "api_key", "A key has no space"),
            ({"api_key_env": "DATABASE_URL"}, "api_key_env", "is not sent to this"),
            ({"provider": "os.system"}, "provider", "Select a valid choice"),
            (
                {"api_key": "k", "api_key_env": "OPENAI_API_KEY"},
                "api_key",
                "not both",
            ),
            (
                {"model": "anthropic/x", "api_base": "https://example.com"},
                "api_base",
                "Only the provider “direct” calls a base URL",
            ),
        ],
    )
    def test_what_is_wrong_is_told_at_the_field(
        self, admin_client, fields, at, sentence
    ):
        found = sentences(admin_client.post(ADD, posted(**fields)))

        assert sentence in found[at]
        assert not Profile.objects.exists()

    def test_fallback_that_is_gone_is_named(self, admin_client, made):
        row = made()
        Profile.objects.filter(pk=row.pk).update(fallback="deleted")

        page = admin_client.get(change_url(row)).content.decode()

        assert '<option value="deleted" selected>deleted (gone)</option>' in page

    def test_name_stays(self, admin_client, made):
        row = made()

        admin_client.post(change_url(row), posted(name="other"))

        row.refresh_from_db()
        assert row.name == "mine"

    def test_page_tells_what_is_known_of_the_model(self, admin_client, made):
        known = admin_client.get(
            change_url(made(model="openai/gpt-4o"))
        ).content.decode()
        other = made(name="other", model="openai/nobody-knows")

        assert "It reads 128,000 tokens. It calls tools. It sees pictures." in known
        unknown = admin_client.get(change_url(other)).content.decode()
        assert "Its price is not known" in unknown

    def test_list_has_the_profiles_of_the_settings_too(
        self, admin_client, made, settings
    ):
        profiles = {"default": {}, "small": {"MODEL": "groq/x", "API_KEY": CANARY}}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": profiles}
        made(name="default", api_key=CANARY)

        page = admin_client.get(LIST).content.decode()

        assert f'href="{ADD}?name=small&amp;model=groq%2Fx"' in page
        assert f"{ADD}?name=default" not in page
        assert CANARY not in page


class TestPermissions:
    @pytest.fixture
    def staff(self, client):
        def sign_in(*names):
            user = get_user_model().objects.create_user("nora", is_staff=True)
            codes = [f"{name}_profile" for name in names]
            user.user_permissions.set(Permission.objects.filter(codename__in=codes))
            client.force_login(user)
            return client

        return sign_in

    def test_none_without_permission(self, staff):
        client = staff()

        assert client.get(LIST).status_code == 403
        assert client.post(ADD, posted()).status_code == 403

    def test_who_may_only_look_changes_and_tests_nothing(self, staff):
        row = Profile.objects.create(name="mine", model="openai/x")
        client = staff("view")

        page = client.get(change_url(row)).content.decode()
        assert "openai/x" in page
        assert 'name="_test"' not in page
        assert 'type="password"' not in page
        posting = posted(label="Changed", _test="1")
        assert client.post(change_url(row), posting).status_code == 403


class TestUse:
    def test_profile_in_use_is_not_deleted(self, admin_client, made):
        row = made(name="large")
        refresh()
        Agent.objects.create(name="writer", profile="large")
        made(name="other", fallback="large")
        url = reverse("admin:ai_assistant_profile_delete", args=[row.pk])

        page = admin_client.post(url, {"post": "yes"}).content.decode()

        assert "The agent “writer” uses it." in page
        assert "The profile “other” falls back to it." in page
        assert Profile.objects.filter(name="large").exists()

    def test_profile_in_use_is_not_switched_off(self, admin_client, made):
        row = made(name="large")
        refresh()
        Agent.objects.create(name="writer", profile="large")

        refused = admin_client.post(change_url(row), posted(name="large", is_active=""))

        assert "The agent “writer” uses it." in sentences(refused)["is_active"]

    def test_one_that_the_settings_have_as_well_is_deleted(
        self, admin_client, made, settings
    ):
        settings.AI_ASSISTANT = conf.merged(
            settings.AI_ASSISTANT, {"PROFILES": {"default": {"MODEL": "openai/y"}}}
        )
        row = made(name="default")
        refresh()
        assert conf.profile()["MODEL"] == "openai/x"

        url = reverse("admin:ai_assistant_profile_delete", args=[row.pk])
        assert admin_client.post(url, {"post": "yes"}).status_code == 302
        refresh()
        assert conf.profile()["MODEL"] == "openai/y"


@pytest.mark.servers
class TestTrial:
    """Save and test: real calls through the real path."""

    @pytest.fixture
    def trial(self, admin_client, local, model_server, monkeypatch):
        """Save and test a profile whose server says this to the two prompts."""

        def run(first, second=(), **fields):
            model_server.script("first", [[*first]])
            model_server.script("second", [[*second]])
            monkeypatch.setattr(readiness, "TRY_PROMPT", "Say OK [[script:first]]")
            monkeypatch.setattr(readiness, "TOOL_PROMPT", "Call [[script:second]]")
            fields = {"api_base": local, "api_key": CANARY, "_test": "1", **fields}
            answer = admin_client.post(ADD, posted(**fields), follow=True)
            assert Profile.objects.exists(), sentences(answer)
            assert CANARY not in answer.content.decode()
            return told(answer)

        return run

    def test_model_that_can_all_is_told_so(self, trial, model_server):
        model_server.clear()

        said = trial([text("OK")], [call("report_ready", {})])

        assert "It answered “OK”" in said
        assert "It calls tools." in said
        first, second = model_server.log()
        assert first["authorization"] == f"Bearer {CANARY}"

    @pytest.mark.parametrize(
        ("reply", "sentence"),
        [
            ([status(401, "No.")], "The provider refused the key."),
            ([status(404, "No.")], "There is no model “openai/x” at this address."),
            ([status(500, "No.")], "answers with an error of its own."),
            ([status(429, "No.")], "its rate limit is reached"),
            ([{"op": "page", "type": "text/html", "body": "x"}], "is no model"),
        ],
    )
    def test_what_is_wrong_is_told(self, trial, reply, sentence):
        assert sentence in trial(reply)

    def test_test_of_a_changed_profile_uses_what_was_saved(
        self, admin_client, trial, local, model_server
    ):
        trial([text("OK")])
        row = Profile.objects.get()

        fields = {"api_base": local, "model": "openai/other", "_test": "1"}
        admin_client.post(change_url(row), posted(**fields))

        assert model_server.requests()[-1]["model"] == "other"

    def test_model_without_tools_is_told(self, trial):
        said = trial([text("OK")], [status(400, "This model has no tools.")])

        assert "It takes no tools" in said

    def test_slow_first_word_is_told(self, trial):
        said = trial([{"op": "hang"}], first_byte_s="1")

        assert "did not begin to answer within 1 s" in said

    def test_host_that_has_become_private_is_not_called(
        self, trial, settings, monkeypatch
    ):
        # It was public when it was saved.
        monkeypatch.setattr(
            "ai_assistant.providers.addresses.is_allowed", lambda _: True
        )
        monkeypatch.setattr(
            "ai_assistant.admin.profiles.page.try_model",
            _after(monkeypatch.undo, readiness.try_model),
        )
        said = trial([text("OK")], api_base="http://localhost:9/v1")

        assert "is a private address" in said


def _after(first, function):
    async def both(*arguments):
        first()
        return await function(*arguments)

    return both
