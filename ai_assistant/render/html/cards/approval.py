"""The card that asks for approval: the difference, and the form to edit."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant.changes.stored import stored_changes
from ai_assistant.changes.values import (
    Changes,
    ObjectChange,
    model_name,
    model_of_label,
)
from ai_assistant.engine.interrupts.approval import ids_beyond
from ai_assistant.exceptions import Refused
from ai_assistant.models import clock
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.policy import Grant
from ai_assistant.models.run import UNFINISHED, Channel
from ai_assistant.registry import registry
from ai_assistant.render.html.diffs.differences import difference_entry
from ai_assistant.render.html.diffs.long_texts import argument_label, argument_text
from ai_assistant.text.hidden_characters import mark_hidden_characters
from ai_assistant.text.word_diff import more_sentence, whole_text_limit
from ai_assistant.tools.data.access.values import object_name, shown_value
from ai_assistant.types import UserKey

Entry = dict[str, Any]
HOUR_S, MINUTE_S = 3600, 60


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
        "destructive": call.effect == "destructive" and _may_lose(changes),
        "expires_at": interrupt.expires_at,
        "expires": _time_left(interrupt.expires_at),
        "editable": bool(changes and tool and tool.approval.editor),
        "allows": _allows(interrupt, changes),
    }


def _may_lose(changes: Changes | None) -> bool:
    """Return whether data may go: it is shown to, or not all that happens is shown."""
    if changes is None or changes.is_empty:
        return True
    if changes.plan:  # of an undo, whose card says row by row what becomes of it
        return False
    kinds = {one.kind for one in changes.objects} | {
        one.kind for one in changes.related
    }
    is_kept = changes.undoable and not changes.undo_limits
    return not is_kept or not kinds <= {"create", "change", "link"}


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


def _allows(interrupt: Interrupt, changes: Changes | None) -> str:
    """Return the words of the tick that allows the same for the whole run, if any."""
    call = interrupt.call
    tool = registry.tool(call.name)
    if interrupt.run.channel == Channel.CODE:
        return ""  # each write of it is asked for
    if call.effect != "write" or (tool is not None and tool.execution.external):
        return ""
    if changes is not None and changes.is_empty:
        return ""  # its changes were not seen
    named = {"tool": call.label or call.name}
    if changes is None or not changes.model:
        return _("Also for the rest of this answer: “%(tool)s”") % named
    named["model"] = model_name(changes.model, plural=True)
    return _("Also for the rest of this answer: “%(tool)s” on %(model)s") % named


def grant_entries(user_id: UserKey) -> list[Entry]:
    """Return what `grants.html` draws: what answers under way need not ask again."""
    own = Grant.objects.filter(user_id=user_id, run__state__in=UNFINISHED)
    return [_grant(one) for one in own.order_by("created_at")]


def _grant(grant: Grant) -> Entry:
    tool = registry.tool(grant.tool)
    return {
        "id": grant.pk,
        "tool": str(tool.display.label) if tool else grant.tool,
        "model": model_name(grant.model, plural=True) if grant.model else "",
    }


def _time_left(until: datetime | None) -> str:
    """Return "in 23 hours": the largest unit that fits, as the clock of a page does."""
    if until is None:
        return ""
    seconds = max(0, int((until - clock.now()).total_seconds()))
    if seconds >= HOUR_S:
        count = seconds // HOUR_S
        return ngettext("in %(count)d hour", "in %(count)d hours", count) % {
            "count": count
        }
    count = seconds // MINUTE_S
    return ngettext("in %(count)d minute", "in %(count)d minutes", count) % {
        "count": count
    }


def whole_card(interrupt: Interrupt, viewer: Any) -> Entry:
    """
    Return the difference of a card with all of its rows, also those beyond the first.

    Raise Refused if there are no others, or if what was shown is of another release.
    """
    changes = stored_changes(interrupt.proposal)
    if changes is None or not changes.rows_argument:
        raise Refused("bad_decision", _("There are no rows to choose from."))
    beyond = _rows_beyond(interrupt, changes, viewer)
    whole = replace(changes, objects=(*changes.objects, *beyond))
    entry = difference_entry(whole, f"interrupt={interrupt.pk}")
    return {**entry, "rest": 0, "is_whole": True}


def _rows_beyond(
    interrupt: Interrupt, changes: Changes, viewer: Any
) -> list[ObjectChange]:
    """Return the rows that the card only counts, with what is in them now."""
    ids = interrupt.call.arguments.get(changes.rows_argument) or []
    shown = {one.object_id for one in changes.objects}
    known = ids_beyond(changes, ids)
    keys = list(dict.fromkeys(key for key in map(str, ids) if key in known - shown))
    model = model_of_label(changes.model)
    if model is None:
        return []
    rows = model._base_manager.in_bulk(keys) if viewer.may_open(model) else {}
    found = {str(key): row for key, row in rows.items()}
    first = next(one for one in changes.objects if one.model == changes.model)
    return [_row(changes.model, key, found.get(key), first) for key in keys]


def _row(label: str, key: str, row: Any, first: ObjectChange) -> ObjectChange:
    """Return what is shown of a row that gets the values that the `first` one gets."""
    columns = {one.name: one for one in row._meta.concrete_fields} if row else {}
    return replace(
        first,
        object_id=key,
        text=object_name(row) if row else f"#{key}",
        fields=tuple(
            replace(one, before=shown_value(columns[one.name], row))
            if one.name in columns
            else one
            for one in first.fields
        )
        if row
        else (),
    )


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
