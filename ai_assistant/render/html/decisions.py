"""What a person has decided about a call, for the card of the call."""

from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.changes.values import readable
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.render.html.closed import closed_of
from ai_assistant.render.html.differences import Entry, difference_entry


def decision_of(call: ToolCall) -> Entry | None:
    """Return what `approval_done.html` draws of the last decision, None without."""
    closed = closed_of(call, Interrupt.Kind.APPROVAL)
    if not closed:
        return None
    last = max(closed, key=lambda one: one.decided_at or one.created_at)
    changes = readable(last.proposal)
    return {
        "id": str(call.pk),
        "sentence": _sentence(last),
        "reason": last.answer if _has_reason(last) else "",
        "diff": difference_entry(changes, f"interrupt={last.pk}") if changes else None,
    }


def _has_reason(decided: Interrupt) -> bool:
    is_denied = decided.status == Interrupt.Status.DENIED
    return is_denied and isinstance(decided.answer, str)


def _sentence(decided: Interrupt) -> str:
    named = {"name": decided.decided_by.get_username() if decided.decided_by else ""}
    if decided.status == Interrupt.Status.EXPIRED:
        return _("Nobody decided in time")
    if decided.status == Interrupt.Status.DENIED:
        return _("Denied by %(name)s") % named if named["name"] else _("Denied")
    return _approved(decided.answer) % named if named["name"] else _("Approved")


def _approved(said: Any) -> str:  # noqa: ANN401 - JSON
    said = said if isinstance(said, dict) else {}
    if said.get("granted"):
        return _("Allowed by %(name)s for this answer")
    if said.get("edited"):
        return _("Edited and approved by %(name)s")
    if said.get("rows") is not None:
        return _("Approved by %(name)s, for chosen rows")
    return _("Approved by %(name)s")
