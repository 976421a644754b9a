"""
For how many rounds something stays in the prompt. A round is one message of the person.

What is said in a run stays for the `context_rounds` of the run, a result for those of
its call, an item of a page for its own: 1 is the message itself alone, None for ever.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from ai_assistant.models.run import Run, RunKind
from ai_assistant.types import ContextItem, RunContext

MOST_ROUNDS = 100  # of an item of a page that are counted
NOT_TOLD = "[This result is shown to the user only.]"
FADED = "[This result is told no more: it was for {rounds} message(s) of the user.]"


class Said(Protocol):
    """A message, as far as rounds are counted by it."""

    @property
    def run_id(self) -> UUID: ...

    @property
    def begins_round(self) -> bool: ...


def rounds_since(messages: Iterable[Said]) -> dict[UUID, int]:
    """Return how many rounds have begun after each run; `messages` are in order."""
    begun: dict[UUID, bool] = {}
    for message in messages:
        begun[message.run_id] = begun.get(message.run_id, False) or message.begins_round
    found: dict[UUID, int] = {}
    later = 0
    for run_id, begins in reversed(begun.items()):
        found[run_id] = later
        later += begins
    return found


def is_over(rounds: int | None, since: int) -> bool:
    """Return whether what was for so many rounds is told no more, so many later."""
    return rounds is not None and since >= rounds


def is_run_over(rounds: int | None, since: int) -> bool:
    """Return the same of all that was said in a run: it is told while it works."""
    return since > 0 and is_over(rounds, since)


def result_note(rounds: int | None) -> str:
    """Return what stands in the place of a result that is told no more."""
    return FADED.format(rounds=rounds) if rounds else NOT_TOLD


# --- runs on a path, as the panel draws them ---


def rounds_after(runs: Sequence[Run], path: Sequence[UUID]) -> dict[UUID, int]:
    """
    Return how many rounds have begun after each of `runs`, as far as it matters.

    `path` are all runs that are shown. Asks the database only for a conversation in
    which something has a duration.
    """
    if not runs:
        return {}
    place = path.index(runs[0].pk) if runs[0].pk in path else 0
    kinds = {run.pk: run.kind for run in runs}
    unknown = [run_id for run_id in path[place:] if run_id not in kinds]
    if unknown:
        named = Run.objects.filter(pk__in=unknown)
        kinds |= dict(named.values_list("pk", "kind"))
    found: dict[UUID, int] = {}
    later = 0
    for run_id in reversed(path[place:]):
        found[run_id] = later
        later += kinds.get(run_id) != RunKind.CONTINUE
    return found


# --- items of a page ---


def still_told(
    items: Sequence[ContextItem], rounds_before: Callable[[], int]
) -> list[ContextItem]:
    """Return the items that are told now; the rounds are asked for if one is counted."""
    if all(item.context_rounds is None for item in items):
        return list(items)
    before = rounds_before()
    return [item for item in items if not is_over(item.context_rounds, before)]


def rounds_on_page(run: Run) -> int:
    """Return how many messages in a row were sent from the page of `run` before it."""
    return _in_a_row(run.conversation_id, run.after_id, run.page_path)


def rounds_so_far(context: RunContext) -> int:
    """Return how many messages in a row the user has sent from the page up to now."""
    own = Run.objects.filter(
        conversation_id=context.conversation_id, user_id=context.user.pk
    )
    last = own.shown().values_list("pk", flat=True).first()
    return _in_a_row(context.conversation_id, last, context.page_path)


def _in_a_row(conversation_id: UUID, last: UUID | None, page_path: str) -> int:
    if last is None:
        return 0
    runs = Run.objects.filter(conversation_id=conversation_id).order_by("-created_at")
    columns = ("pk", "after_id", "page_path", "kind")
    rows = {pk: rest for pk, *rest in runs.values_list(*columns)[: 2 * MOST_ROUNDS]}
    return _count(rows, last, _page(page_path))


def _count(rows: Mapping[UUID, list[object]], last: UUID | None, page: str) -> int:
    here: object = last
    count = 0
    while here in rows and count < MOST_ROUNDS:
        here, path, kind = rows[here]  # type: ignore[index]
        if _page(str(path)) != page:
            break
        count += kind != RunKind.CONTINUE
    return count


def _page(path: str) -> str:
    return path.partition("?")[0]
