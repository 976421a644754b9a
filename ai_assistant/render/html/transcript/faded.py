"""What the assistant is told no more: it is greyed, with a title that says why."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ai_assistant.engine.storage.rounds import (
    is_over,
    is_run_over,
    rounds_after,
    rounds_so_far,
    still_told,
)
from ai_assistant.models.call import ToolCall
from ai_assistant.models.run import Run
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.types import ContextItem, RunContext

Calls = Mapping[UUID, ToolCall]


def faded_text(rounds: int | None) -> str:
    """Return why something that was for so many messages is told no more."""
    if not rounds:
        return _("The assistant is not told this: it is for you alone.")
    text = ngettext(
        "The assistant is told this no more: it was for %(count)d message.",
        "The assistant is told this no more: it was for %(count)d messages.",
        rounds,
    )
    return text % {"count": rounds}


def faded_of(
    runs: Sequence[Run], calls: Iterable[ToolCall], path: Sequence[UUID]
) -> dict[UUID, str]:
    """Return why each of these runs and calls is told no more, by its id."""
    limited = [call for call in calls if call.context_rounds is not None]
    if not limited and all(run.context_rounds is None for run in runs):
        return {}
    since = rounds_after(runs, path)
    found = {
        run.pk: faded_text(run.context_rounds)
        for run in runs
        if is_run_over(run.context_rounds, since[run.pk])
    }
    return found | {
        call.pk: faded_text(call.context_rounds)
        for call in limited
        if is_over(call.context_rounds, since[call.run_id])
    }


def faded_items(items: list[ContextItem], context: RunContext) -> dict[str, str]:
    """Return why these items are told no more with the next message, by their ids."""
    told = still_told(items, lambda: rounds_so_far(context))
    return {
        item.id: faded_text(item.context_rounds) for item in items if item not in told
    }


def mark_faded(entries: list[Entry], run: Run, faded: Mapping[UUID, str]) -> None:
    """Note on what is drawn of a run what of it is told no more."""
    if not faded:
        return
    for entry in entries:
        entry["faded"] = faded.get(run.pk, "")
    for card in _cards(entries[-1]["parts"]):
        card["faded"] = faded.get(UUID(card["id"]), "")


def _cards(parts: Iterable[Entry]) -> Iterator[Entry]:
    for part in parts:
        if part["kind"] == "tool":
            yield part["call"]
        elif part["kind"] == "group":
            yield from part["calls"]
