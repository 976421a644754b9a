"""Where no model can answer, the panel says so before the first question."""

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from ai_assistant.web.model_notice import model_notice
from tests.web.markup import all_with, one_with

pytestmark = pytest.mark.usefixtures("quiet")

OPEN = "o=1&m=dock&w=400&c="


@pytest.fixture
def without_key(settings, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    profile = {"MODEL": "openai/x", "API_KEY_ENV": "NO_SUCH_KEY"}
    own = {**settings.AI_ASSISTANT, "PROFILES": {"default": profile}}
    settings.AI_ASSISTANT = own


@pytest.fixture
def drawn(browser):
    def draw(name):
        client = browser(name)
        client.cookies["aia_ui"] = OPEN
        return client.get("/admin/").content.decode()

    return draw


def give(user, codename):
    user.user_permissions.add(Permission.objects.get(codename=codename))


@pytest.fixture
def root(people):
    people["ada"].is_superuser = True
    people["ada"].save()


@pytest.mark.usefixtures("root", "without_key")
@pytest.mark.row("V02")
class TestNotice:
    def test_superuser_is_told_the_name_and_where_to_look(self, drawn):
        html = drawn("ada")

        assert "No model can answer: NO_SUCH_KEY is missing." in html
        assert all_with(html, href=reverse("ai_assistant:model"))

    def test_others_are_told_in_one_sentence(self, drawn):
        html = drawn("bob")

        assert "an administrator has to set up its model" in html
        assert "NO_SUCH_KEY" not in html
        assert not all_with(html, href=reverse("ai_assistant:model"))

    def test_who_may_set_it_up_is_led_step_by_step(self, drawn, people):
        give(people["bob"], "add_profile")

        html = drawn("bob")

        first = reverse("admin:ai_assistant_profile_first_run")
        links = [a["href"] for a in all_with(html, href=None) if first in a["href"]]
        assert "NO_SUCH_KEY is missing" in html
        assert not all_with(html, href=reverse("ai_assistant:model"))
        ways = ["", "?provider=openai", "?provider=offline"]
        assert links == [f"{first}{way}" for way in ways]

    def test_others_are_told_whom_to_ask(self, drawn, people, settings):
        ada = people["ada"]
        ada.first_name, ada.last_name = "Ada", "Lovelace"
        ada.email = "ada@example.com"
        ada.save()

        html = drawn("bob")
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PANEL": {"CONTACT": "us"}}

        assert "Ask Ada Lovelace." in html
        assert "ada@example.com" not in html
        assert "Ask us." in model_notice(people["bob"]).text

    def test_visitor_is_told_no_name(self, people):
        people["ada"].first_name = "Ada"
        people["ada"].save()
        people["bob"].is_staff = False

        assert "Ada" not in model_notice(people["bob"]).text

    def test_another_profile_leads_to_its_form(self, people, settings):
        bad = {"MODEL": "openai/y", "API_KEY_ENV": "NO_SUCH_KEY"}
        own = settings.AI_ASSISTANT
        profiles = {**own["PROFILES"], "other": bad}
        settings.AI_ASSISTANT = {**own, "PROFILES": profiles}

        (step,) = model_notice(people["ada"], "other").steps

        assert step.url.endswith("profile/add/?name=other&model=openai%2Fy")

    def test_dot_is_told_and_nothing_is_offered(self, drawn):
        html = drawn("ada")

        assert "data-unset" in one_with(html, id="aia-banner")
        assert not all_with(html, data_aia_ask=None)

    def test_page_that_is_redrawn_says_it_too(self, browser):
        query = {"path": "/admin/"}
        html = browser("ada").get(reverse("ai_assistant:context"), query)

        assert "NO_SUCH_KEY is missing" in html.content.decode()


@pytest.mark.usefixtures("root")
class TestPage:
    def test_nothing_is_said_of_a_model_that_has_all(self, drawn):
        assert "data-unset" not in one_with(drawn("ada"), id="aia-banner")

    def test_nothing_is_said_of_a_profile_that_is_gone(self, people):
        assert model_notice(people["ada"], "gone") is None

    def test_page_tells_what_is_missing_and_how_to_try(self, browser, without_key):
        answer = browser("ada").get(reverse("ai_assistant:model"))
        html = answer.content.decode()

        assert answer.status_code == 200
        assert "<strong>NO_SUCH_KEY</strong>" in html
        assert "assistant_doctor --try" in html

    def test_page_is_for_superusers(self, browser, without_key):
        assert browser("bob").get(reverse("ai_assistant:model")).status_code == 403


@pytest.mark.usefixtures("root")
class TestTrial:
    @pytest.fixture
    def profile(self, settings):
        def make(base, name="default"):
            fields = {"MODEL": "openai/x", "API_BASE": base, "API_KEY": "sk-own-key"}
            own = {**settings.AI_ASSISTANT, "PROFILES": {name: fields}}
            settings.AI_ASSISTANT = own

        return make

    def test_test_makes_real_calls(self, browser, profile, model_server):
        profile(model_server.base)
        before = len(model_server.requests())
        html = try_it(browser("ada"))

        assert "It answered in" in html
        plain, with_tool = model_server.requests()[before:]
        assert ("tools" in plain, "tools" in with_tool) == (False, True)

    def test_model_that_is_not_there_is_told_without_the_key(self, browser, profile):
        profile("http://127.0.0.1:1/v1")
        html = try_it(browser("ada"))

        assert "<strong>The address cannot be reached." in html
        assert "sk-own-key" not in html

    def test_test_is_for_superusers(self, browser, profile, model_server):
        profile(model_server.base)
        before = len(model_server.requests())

        assert post(browser("bob")).status_code == 403
        assert len(model_server.requests()) == before

    def test_unknown_profile_is_not_found(self, browser, profile):
        profile("http://127.0.0.1:1/v1")

        assert post(browser("ada"), "no-such").status_code == 404


def post(client, name="default"):
    return client.post(reverse("ai_assistant:model"), {"profile": name})


def try_it(client):
    answer = post(client)
    assert answer.status_code == 200
    return answer.content.decode()
