"""What a card that asks for approval shows beside the arguments of the call."""

from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.changes.values import Changes, from_json
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.registry import registry
from ai_assistant.render.html.differences import difference_entry, model_name

Entry = dict[str, Any]


def proposal_entry(interrupt: Interrupt) -> Entry:
    """Return the difference, why it is asked for, and what may be done with it."""
    call, stored = interrupt.call, interrupt.proposal
    changes = from_json(stored) if stored else None
    tool = registry.tool(call.name)
    return {
        "diff": difference_entry(changes) if changes else None,
        "key": f"i-{interrupt.pk}",
        "because": call.asks_because,
        "again": getattr(interrupt, "is_again", False),
        "importance": (tool.importance or "") if tool else "",
        "editable": bool(changes and tool and tool.editor),
        "allows": _allows(call, changes) if call.effect == "write" else "",
    }


def _allows(call: ToolCall, changes: Changes | None) -> str:
    """Return the words of the button that allows the same for the whole run."""
    named = {"tool": call.label or call.name}
    if changes is None or not changes.model:
        return _("Allow “%(tool)s” for this answer") % named
    named["model"] = model_name(changes.model, plural=True)
    return _("Allow “%(tool)s” on %(model)s for this answer") % named
