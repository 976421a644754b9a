"""The agent of a conversation is chosen in the composer, and said above its answers."""

from uuid import uuid4

import pytest
from django.urls import reverse

import ai_assistant
from ai_assistant.models import Agent, Run
from ai_assistant.registry import registry
from tests.web.conftest import ask

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.row("H02")]


@pytest.fixture(autouse=True)
def _no_agents():
    with registry.restored():
        registry._registry = {
            key: part for key, part in registry._registry.items() if key[0] != "agent"
        }
        yield


@pytest.fixture
def analyst():
    ai_assistant.agent("analyst", label="Analyst")(lambda context: "You count.")


def page(client, **query):
    return client.get(reverse("ai_assistant:page"), query).content.decode()


def send(client, **fields):
    sent = {"conversation": str(uuid4()), "key": str(uuid4()), "text": "Hello"}
    own = {**sent, "path": "/admin/", "next": "/admin/", **fields}
    return client.post(reverse("ai_assistant:send"), own)


class TestChoice:
    def test_is_not_there_without_an_agent(self, browser):
        assert 'id="aia-agent"' not in page(browser("ada"))

    @pytest.mark.usefixtures("analyst")
    def test_offers_the_assistant_first(self, browser):
        shown = page(browser("ada"))

        choice = shown.partition('id="aia-agent"')[2].partition("</select>")[0]
        assert choice.index("Assistant") < choice.index("Analyst")

    def test_offers_only_what_a_person_may_use(self, browser):
        ai_assistant.agent("chief", label="Chief", group="Chiefs")(lambda context: "")

        assert 'id="aia-agent"' not in page(browser("ada"))

    @pytest.mark.usefixtures("analyst")
    def test_run_has_the_chosen_one(self, browser):
        ada = browser("ada")

        send(ada, agent="analyst")

        run = Run.objects.get()
        assert run.agent == "analyst"
        shown = page(ada, conversation=run.conversation_id)
        assert '<option value="analyst" selected>' in shown

    @pytest.mark.usefixtures("analyst")
    def test_one_that_does_not_exist_is_refused_in_a_sentence(self, browser):
        refused = send(browser("ada"), agent="gone")

        assert refused.status_code == 400
        assert "Choose another one" in refused.content.decode()
        assert not Run.objects.exists()

    def test_one_that_is_gone_leaves_a_way_on(self, browser, people):
        run = ask(people["ada"])
        Run.objects.update(agent="gone", state="succeeded", owner="")
        ada = browser("ada")

        shown = page(ada, conversation=run.conversation_id)

        assert 'id="aia-agent"' in shown
        send(ada, conversation=str(run.conversation_id), agent="")
        assert Run.objects.latest("created_at").agent == ""


class TestAnswer:
    def test_names_its_agent(self, browser, people):
        Agent.objects.create(name="analyst", label="Analyst <b>")
        run = ask(people["ada"])
        Run.objects.update(agent="analyst")

        shown = page(browser("ada"), conversation=run.conversation_id)

        heading = shown.partition(f'id="r-{run.pk}-h"')[2].partition("</h3>")[0]
        assert "Analyst &lt;b&gt;" in heading

    @pytest.mark.row("V08")
    def test_says_who_has_answered_in_place_of_whom(self, browser, people, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "PROFILES": {
                "default": {"MODEL": "large", "LABEL": "Large"},
                "small": {"MODEL": "small", "LABEL": "Small"},
            },
        }
        run = ask(people["ada"])
        code = {"fallback": "small", "fallback_code": "rate_limited"}
        Run.objects.update(state="succeeded", owner="", **code)

        shown = page(browser("ada"), conversation=run.conversation_id)

        assert "Small answers: the rate limit of Large is reached." in shown
