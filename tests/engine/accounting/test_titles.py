"""The title of a conversation, asked of the model once, after its first answer."""

import asyncio
import logging
from decimal import Decimal

import pytest

from ai_assistant import conf
from ai_assistant.engine.accounting import titles
from ai_assistant.engine.accounting.titles import (
    TITLE_CHARS,
    TITLE_PROMPT,
    clean_title,
    give_title,
)
from ai_assistant.exceptions import ModelError
from ai_assistant.models import Conversation
from ai_assistant.models.run import Run, RunKind, RunState
from ai_assistant.models.usage import UsageLedger
from ai_assistant.testing import ScriptedProvider, call, reply
from project.demo_model.provider import DemoProvider
from project.demo_model.titles import title_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _titles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the script be asked for titles too."""
    monkeypatch.setattr(ScriptedProvider, "gives_titles", True)


QUESTION = "Which orders of March are open?"


def title(run):
    """Ask for the title as the executor does; return what it is then."""
    asyncio.run(give_title(run.pk))
    return Conversation.objects.get(pk=run.conversation_id).title


class TestTitle:
    def test_title_is_what_the_model_says(self, play, script):
        script.add("Twelve are.", "Open orders of March")

        run = play(QUESTION)

        assert title(run) == "Open orders of March"

    def test_title_by_a_profile_of_its_own(self, play, script, options):
        smaller = ScriptedProvider()
        smaller.add("Open orders")
        path = "ai_assistant.testing.ScriptedProvider"
        own = {"PROVIDER": path, "MODEL": "small", "SCRIPT": smaller}
        default = conf.get("PROFILES")["default"]
        options(PROFILES={"default": default, "small": own}, TITLE_PROFILE="small")
        script.add("Twelve are.")

        assert title(play(QUESTION)) == "Open orders"

        called = UsageLedger.objects.order_by("step_index")
        assert [row.profile for row in called] == ["default", "small"]
        assert [row.model for row in called] == ["scripted", "small"]

    def test_title_asks_with_a_prompt_of_its_own(self, play, script):
        script.add("Twelve are.", "Orders")
        run = play(QUESTION)

        title(run)

        request = script.requests[1]
        system, asked = request.messages
        assert (system["content"], request.tools) == (TITLE_PROMPT, [])
        assert QUESTION in asked["content"]
        assert "Twelve are." in asked["content"]

    def test_title_is_never_that_of_a_continue(self, play, script):
        script.add("Half of it.", "The rest.", "What was asked")
        stopped = play(QUESTION)
        Run.objects.filter(pk=stopped.pk).update(state=RunState.CANCELLED)
        whole = play("Go on.", conversation_id=stopped.conversation_id)
        Run.objects.filter(pk=whole.pk).update(kind=RunKind.CONTINUE)

        title(whole)

        Run.objects.update(state=RunState.SUCCEEDED, kind=stopped.kind)
        asked = script.requests[-1].messages[-1]["content"]
        assert QUESTION in asked
        assert "Go on." not in asked

    def test_title_is_asked_once_of_a_conversation(self, play, script):
        script.add("Twelve are.", "Orders", "And three of May.")
        run = play(QUESTION)
        title(run)

        again = play("And of May?", conversation_id=run.conversation_id)

        assert title(again) == "Orders"
        assert len(script.requests) == 3

    def test_title_never_replaces_a_name(self, play, script):
        script.add("Twelve are.")
        run = play(QUESTION)
        Conversation.objects.update(title="Mine", is_renamed=True)

        assert title(run) == "Mine"
        assert len(script.requests) == 1

    def test_title_never_replaces_a_name_given_meanwhile(self, play, function_model):
        async def renaming(request):
            if request.messages[0]["content"] == TITLE_PROMPT:
                await asyncio.to_thread(named)
                return "Orders"
            return "Twelve are."

        def named():
            Conversation.objects.update(title="Mine", is_renamed=True)

        function_model(renaming)

        assert title(play(QUESTION)) == "Mine"

    def test_title_is_not_asked_after_a_failure(self, play, script):
        script.add(ModelError("bad_key"))

        assert title(play(QUESTION)) == QUESTION
        assert len(script.requests) == 1

    def test_title_is_not_asked_of_a_deleted_one(self, play, script):
        script.add("Twelve are.")
        run = play(QUESTION)
        Conversation.objects.update(deleted_at=run.finished_at)

        title(run)

        assert len(script.requests) == 1

    @pytest.mark.parametrize(
        "trouble", [ModelError("bad_key"), ModelError("cut"), "", " \n ", '""']
    )
    def test_failure_changes_nothing(self, play, script, trouble):
        script.add("Twelve are.", trouble)

        run = play(QUESTION)

        assert title(run) == QUESTION
        run.refresh_from_db()
        assert run.state == "succeeded"

    def test_failure_is_logged(self, play, script, caplog):
        script.add("Twelve are.", ModelError("bad_key", "secret"))
        run = play(QUESTION)

        with caplog.at_level(logging.INFO, "ai_assistant"):
            title(run)

        assert f"no title after run {run.pk}" in caplog.text

    def test_title_has_a_time_limit(self, play, function_model, monkeypatch):
        async def hanging(request):
            if request.messages[0]["content"] == TITLE_PROMPT:
                await asyncio.Event().wait()
            return "Twelve are."

        monkeypatch.setattr(titles, "TIMEOUT_S", 0.05)
        function_model(hanging)

        assert title(play(QUESTION)) == QUESTION

    def test_call_that_the_model_makes_is_not_carried_out(self, play, script):
        script.add("Twelve are.", reply("Orders", call("echo", {"text": "x"})))

        run = play(QUESTION)

        assert title(run) == "Orders"
        assert run.calls.count() == 0

    def test_site_secrets_stay_out_of_the_question(self, play, script, options):
        options(REDACT=[r"order-\d+"])
        script.add("It is order-4711.", "Orders")

        title(play(QUESTION))

        assert "4711" not in str(script.requests[1].messages)


class TestCost:
    def test_cost_stands_in_the_ledger(self, play, script):
        script.add("Twelve are.", "Orders of March")
        run = play(QUESTION)

        title(run)

        rows = list(UsageLedger.objects.filter(run=run).order_by("step_index"))
        assert [row.step_index for row in rows] == [0, 1]
        assert all(row.state == "settled" for row in rows)
        assert rows[1].output_tokens > 0

    def test_no_budget_no_title(self, play, script, options):
        script.add("Twelve are.")
        run = play(QUESTION)
        options(BUDGETS=[{"scope": "user", "window": "day", "tokens": 1}])

        assert title(run) == QUESTION
        assert len(script.requests) == 1
        assert UsageLedger.objects.filter(run=run).count() == 1

    def test_cost_is_given_back_where_nothing_was_used(self, play, script, options):
        budget = {"scope": "user", "window": "day", "tokens": 1_000_000}
        options(BUDGETS=[budget])
        script.add("Twelve are.", ModelError("bad_key"))
        run = play(QUESTION)

        title(run)

        row = UsageLedger.objects.get(run=run, step_index=1)
        assert (row.state, row.tokens, row.usd) == ("released", 0, Decimal(0))


class TestClean:
    @pytest.mark.parametrize(
        ("said", "title"),
        [
            ("Orders of March", "Orders of March"),
            ('"Orders of March"', "Orders of March"),
            ("**Orders**", "Orders"),
            ("# Orders\n\nof March", "Orders"),
            ("\n\n  Orders   of\tMarch.  ", "Orders of March"),
            ("Title: Orders", "Orders"),
            ("“Bestellungen”", "Bestellungen"),
            ("「三月の注文」", "三月の注文"),
            ('The word "now"', 'The word "now"'),
            ("a\u202eb\x07c", "abc"),
            ("", ""),
        ],
    )
    def test_clean_is_one_plain_line(self, said, title):
        assert clean_title(said) == title

    def test_long_title_is_cut_with_an_ellipsis(self):
        cut = clean_title("word " * 100)

        assert len(cut) <= TITLE_CHARS
        assert cut.endswith("…")


class TestDemoModel:
    def test_demo_model_gives_the_first_words_of_the_question(self, play, options):
        profile = {"PROVIDER": "project.demo_model.DemoProvider", "MODEL": "demo"}
        options(PROFILES={"default": {**profile, "DELAY_S": 0}})
        asked = (
            "Hello, which of the questionnaires about knee replacement are drafts now?"
        )
        run = play(asked)

        given = title(run)

        assert asked.startswith(given)
        assert 0 < len(given) <= TITLE_CHARS
        assert given.endswith((" are", "replacement"))

    def test_demo_model_gives_none_that_nobody_asked_for(self):
        assert title_of([{"role": "user", "content": QUESTION}]) == ""
        assert DemoProvider({"DELAY_S": 0}) is not None
