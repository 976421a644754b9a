"""Keys that a hook gives away, in whatever it says."""

from dataclasses import replace

import pytest

import ai_assistant
from ai_assistant.hooks import NextRound, Refuse, RequireApproval
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Message
from ai_assistant.models.event import RunEvent
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from tests.hooks.test_hostile import SECRET, on, page_of, writes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("H09")]


def says(where, words):
    """Register a hook that says `words`, or keeps them, or fails with them."""

    @ai_assistant.hook("response_complete", name="keeps-words")
    def keeps(context, got):
        if where == "state":
            context.state["own"] = words

    def raises(got):
        raise ValueError(words)

    said = {
        "refusal": ("before_tool", Refuse(words)),
        "approval": ("before_tool", RequireApproval(words)),
        "summary": ("after_tool", lambda got: replace(got.result, summary=words)),
        "round": ("run_finished", NextRound(to="self", text=words)),
        "person": ("run_finished", NextRound(to="person", text=words)),
        "error": ("before_tool", raises),
    }
    if where in said:
        on(*said[where])


class TestKeys:
    @pytest.mark.parametrize(
        "where", ["refusal", "approval", "summary", "round", "person", "state", "error"]
    )
    def test_8_come_into_nothing_that_is_kept_or_told(
        self, options, play, script, user, where, caplog
    ):
        options(POLICY={"write_effect": "ask" if where == "approval" else "allow"})
        says(where, f"api_key={SECRET}")
        script.add(writes(), *["Done."] * 3)

        run = play()

        models = (Run, Message, RunEvent, AuditEntry, Interrupt, ToolCall)
        kept = [list(model.objects.values_list()) for model in models]
        assert SECRET not in str(kept)
        assert SECRET not in page_of(user, run)
        assert SECRET not in str([one.messages for one in script.requests])
        assert SECRET not in caplog.text
