"""The card that asks for approval: the difference, and the form to edit."""

from typing import Any
from uuid import UUID

from django.utils.http import urlencode
from django.utils.translation import gettext as _

from ai_assistant.changes.values import Changes, model_name, stored_changes
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.registry import registry
from ai_assistant.render.html.diffs.differences import difference_entry, more_sentence
from ai_assistant.render.html.diffs.long_texts import argument_label, argument_text
from ai_assistant.text.hidden_characters import mark_hidden_characters
from ai_assistant.text.word_diff import whole_text_limit

Entry = dict[str, Any]


def proposal_entry(interrupt: Interrupt) -> Entry:
    """Return the difference, why it is asked for, and what may be done with it."""
    call, stored = interrupt.call, interrupt.proposal
    changes = stored_changes(stored)
    tool = registry.tool(call.name)
    return {
        "diff": difference_entry(changes, f"interrupt={interrupt.pk}")
        if changes
        else None,
        "key": f"i-{interrupt.pk}",
        "because": call.asks_because,
        "again": getattr(interrupt, "is_again", False),
        "importance": (tool.display.importance or "") if tool else "",
        "expires_at": interrupt.expires_at,
        "editable": bool(changes and tool and tool.approval.editor),
        "allows": _allows(call, changes),
    }


def arguments_of(interrupt: Interrupt) -> list[Entry]:
    """Return the arguments of a call whose changes are unknown."""
    arguments = interrupt.call.arguments
    return [
        _argument(
            interrupt, name, argument_text(value), whole_text_limit(len(arguments))
        )
        for name, value in arguments.items()
    ]


def _argument(interrupt: Interrupt, name: str, text: str, most: int) -> Entry:
    more = max(0, len(text) - most)
    named = {"interrupt": str(interrupt.pk), "argument": name}
    return {
        "label": mark_hidden_characters(argument_label(name)),
        "text": mark_hidden_characters(f"{text[:most]} …" if more else text),
        "more": more_sentence(more),
        "at": urlencode(named),
    }


def _allows(call: ToolCall, changes: Changes | None) -> str:
    """Return the words of the button that allows the same for the whole run, if any."""
    tool = registry.tool(call.name)
    if call.effect != "write" or (tool is not None and tool.execution.external):
        return ""
    if changes is not None and changes.is_empty:
        return ""  # its changes were not seen
    named = {"tool": call.label or call.name}
    if changes is None or not changes.model:
        return _("Allow “%(tool)s” for this answer") % named
    named["model"] = model_name(changes.model, plural=True)
    return _("Allow “%(tool)s” on %(model)s for this answer") % named


def edit_entry(form: Any, interrupt_id: UUID) -> Entry:
    """
    Return what `edit_form.html` draws of `form`, bound or not.

    `told` are errors that belong to no field in sight. The first field that is wrong
    gets the focus, or else these errors.
    """
    # Two cards of one page may have the same fields.
    form.auto_id = f"i-{interrupt_id}-%s"
    fields = form.visible_fields()
    wrong = [field for field in fields if field.errors]
    hidden = form.hidden_fields()
    if wrong:
        wrong[0].field.widget.attrs["autofocus"] = True
    return {
        "form": form,
        "fields": fields,
        "hidden": hidden,
        "told": [
            *form.non_field_errors(),
            *(f"{one.label}: {error}" for one in hidden for error in one.errors),
        ],
        "wrong": len(wrong),
    }
