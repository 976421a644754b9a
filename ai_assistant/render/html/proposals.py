"""What a card that asks for approval shows beside the arguments of the call."""

from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.changes.values import Changes, readable
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.registry import registry
from ai_assistant.render.html.differences import difference_entry, model_name

Entry = dict[str, Any]


def proposal_entry(interrupt: Interrupt) -> Entry:
    """Return the difference, why it is asked for, and what may be done with it."""
    call, stored = interrupt.call, interrupt.proposal
    changes = readable(stored)
    tool = registry.tool(call.name)
    return {
        "diff": difference_entry(changes) if changes else None,
        "key": f"i-{interrupt.pk}",
        "because": call.asks_because,
        "again": getattr(interrupt, "is_again", False),
        "importance": (tool.importance or "") if tool else "",
        "editable": bool(changes and tool and tool.editor),
        "allows": _allows(call, changes) if _may_allow(call) else "",
    }


def _may_allow(call: ToolCall) -> bool:
    """Tell whether the same tool may be allowed for the whole run."""
    tool = registry.tool(call.name)
    return call.effect == "write" and not (tool is not None and tool.external)


def _allows(call: ToolCall, changes: Changes | None) -> str:
    """Return the words of the button that allows the same for the whole run."""
    named = {"tool": call.label or call.name}
    if changes is None or not changes.model:
        return _("Allow “%(tool)s” for this answer") % named
    named["model"] = model_name(changes.model, plural=True)
    return _("Allow “%(tool)s” on %(model)s for this answer") % named
