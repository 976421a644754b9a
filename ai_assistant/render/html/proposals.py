"""What a card that asks for approval shows beside the arguments of the call."""

from typing import Any

from django.utils.http import urlencode
from django.utils.translation import gettext as _

from ai_assistant.changes.values import Changes, readable
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.registry import registry
from ai_assistant.render.html.differences import (
    difference_entry,
    model_name,
    more_sentence,
)
from ai_assistant.render.html.hidden import visible
from ai_assistant.render.html.whole_texts import argument_label, argument_text
from ai_assistant.render.html.words import room

Entry = dict[str, Any]


def proposal_entry(interrupt: Interrupt) -> Entry:
    """Return the difference, why it is asked for, and what may be done with it."""
    call, stored = interrupt.call, interrupt.proposal
    changes = readable(stored)
    tool = registry.tool(call.name)
    return {
        "diff": difference_entry(changes, f"interrupt={interrupt.pk}")
        if changes
        else None,
        "key": f"i-{interrupt.pk}",
        "because": call.asks_because,
        "again": getattr(interrupt, "is_again", False),
        "importance": (tool.importance or "") if tool else "",
        "expires_at": interrupt.expires_at,
        "editable": bool(changes and tool and tool.editor),
        "allows": _allows(call, changes) if _may_allow(call, changes) else "",
    }


def arguments_of(interrupt: Interrupt) -> list[Entry]:
    """Return the arguments of a call of which nobody knows what it would change."""
    arguments = interrupt.call.arguments
    return [
        _argument(interrupt, name, argument_text(value), room(len(arguments)))
        for name, value in arguments.items()
    ]


def _argument(interrupt: Interrupt, name: str, text: str, most: int) -> Entry:
    more = max(0, len(text) - most)
    named = {"interrupt": str(interrupt.pk), "argument": name}
    return {
        "label": visible(argument_label(name)),
        "text": visible(f"{text[:most]} …" if more else text),
        "more": more_sentence(more),
        "at": urlencode(named),
    }


def _may_allow(call: ToolCall, changes: Changes | None) -> bool:
    """Tell whether the same tool may be allowed for the whole run."""
    if changes is not None and changes.is_empty:
        return False  # nobody has seen what it does
    tool = registry.tool(call.name)
    return call.effect == "write" and not (tool is not None and tool.external)


def _allows(call: ToolCall, changes: Changes | None) -> str:
    """Return the words of the button that allows the same for the whole run."""
    named = {"tool": call.label or call.name}
    if changes is None or not changes.model:
        return _("Allow “%(tool)s” for this answer") % named
    named["model"] = model_name(changes.model, plural=True)
    return _("Allow “%(tool)s” on %(model)s for this answer") % named
