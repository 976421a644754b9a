"""A tool that calls another one, while it is only looked at what it would do."""

import pytest

from ai_assistant import RunContext
from ai_assistant.changes.values import Changes
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.call import ToolCall
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume
from tests.engine.people import given
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def inner(offer):
    def inner(context: RunContext) -> None:
        """Make an effect."""
        Effect.objects.create(key="a", run=context.run_id)

    return offer(inner, effect="write")


@pytest.mark.parametrize("policy", [{}, {"inner": "allow"}])
def test_trial_shows_what_children_do(inner, offer, options, play, script, policy):
    seen = []

    def outer(context: RunContext) -> None:
        """Let the other make it."""
        before = AuditEntry.objects.count()
        assert context.call_tool("inner").ok
        children = ToolCall.objects.filter(parent__isnull=False).count()
        seen.append((children, AuditEntry.objects.count() - before))

    options(POLICY=policy)
    offer(outer, effect="write", preview="transaction")
    script.add(reply("", call("outer")), "Done.")
    run = play()
    # Neither the run nor the head of the audit log was held meanwhile.
    assert (run.state, seen) == ("waiting_approval", [(0, 0)])
    assert run.interrupts.get().proposal["total"] == 1
    assert not Effect.objects.exists()

    answer(given(run, "approve"))
    assert (resume(run).state, Effect.objects.count()) == ("succeeded", 1)
    assert ToolCall.objects.filter(parent__isnull=False).count() == 1


def test_preview_function_writes_nothing(inner, offer, options, play, script):
    refused = []

    def look(context: RunContext) -> Changes:
        refused.append(context.call_tool("inner").error_type)
        return Changes(title="Make it")

    def outer(context: RunContext) -> None:
        """Let the other make it."""

    options(POLICY={"inner": "allow"})
    offer(outer, effect="write", external=True, preview=look)
    script.add(reply("", call("outer")), "Done.")
    run = play()
    assert (run.state, refused) == ("waiting_approval", ["policy"])
    assert not Effect.objects.exists()
