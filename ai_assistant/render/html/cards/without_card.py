"""Calls of built-in tools that have no card: the plan of a run, and follow-ups."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.run import Run, RunState
from ai_assistant.render.html.cards.body import done_of
from ai_assistant.text.hidden_characters import mark_hidden_characters
from ai_assistant.tools.followups import is_followups, suggest_followups
from ai_assistant.tools.plan import is_plan, update_plan

Entry = dict[str, Any]

# Calls of these statuses have made no plan.
UNDRAWN = (CallStatus.WAITING, CallStatus.FAILED, CallStatus.DENIED)
# How the items of a plan are drawn: as steps of a call are.
STATUSES = {
    "done": CallStatus.COMPLETE,
    "in_progress": CallStatus.EXECUTING,
    "pending": CallStatus.PENDING,
}


def has_card(name: str) -> bool:
    """Return whether calls of the tool are drawn as cards."""
    return not (is_followups(name) or is_plan(name))


def plan_part(run: Run, calls: Iterable[ToolCall]) -> Entry | None:
    """
    Return the part of a run that shows its plan; None if it has none.

    The newest plan counts, and stands where the first one was made, by `call_id`.
    """
    plans = [one for one in calls if is_drawn_plan(one.name, one.status, one.parent_id)]
    if not plans:
        return None
    plans.sort(key=lambda one: (one.step_id, one.position))
    items = [
        _item(one, is_over=run.is_final) for one in plans[-1].arguments.get("items", [])
    ]
    return {
        "kind": "plan",
        "id": str(run.pk),
        "call_id": plans[0].pk,
        "plan": items,
        "plan_done": done_of(items),
    }


def stored_plan(run: Run) -> Entry | None:
    """Return the same from the rows."""
    calls = ToolCall.objects.filter(run=run, name=update_plan.__name__)
    return plan_part(run, calls.defer("result", "result_text"))


def no_plan(run: Run) -> Entry:
    """Return what removes the plan of a run: the calls that made it have failed."""
    return {"kind": "plan", "id": str(run.pk), "plan": []}


def is_drawn_plan(name: str, status: str, parent_id: object) -> bool:
    """
    Return whether a call makes the plan of its run, or changes it.

    Also one that is still to be carried out: so it is drawn where it was made.
    """
    return parent_id is None and status not in UNDRAWN and is_plan(name)


def _item(item: dict[str, str], *, is_over: bool) -> Entry:
    """Return what `tool_steps.html` draws; of a run that is over nothing goes on."""
    status = STATUSES[item["status"]]
    said = {
        CallStatus.COMPLETE: _("Done"),
        CallStatus.EXECUTING: _("In progress"),
        CallStatus.PENDING: _("To do"),
    }[status]
    if is_over and status != CallStatus.COMPLETE:
        status, said = CallStatus.PENDING, _("Not done")
    text = mark_hidden_characters(item["text"])
    return {"text": text, "status": str(status), "said": said}


def followups_of(run: Run | None) -> list[str]:
    """
    Return what the model suggests to ask after a run.

    Nothing after one without an answer. Asks the database where the site wants them.
    """
    if run is None or run.state != RunState.SUCCEEDED or not conf.get("FOLLOWUPS"):
        return []
    calls = ToolCall.objects.filter(
        run=run, name=suggest_followups.__name__, status=CallStatus.COMPLETE
    )
    newest = calls.order_by("-step__index", "-position")
    result = newest.values_list("result", flat=True).first() or {}
    return [str(text) for text in (result.get("data") or {}).get("shown", ())]
