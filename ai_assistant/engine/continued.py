"""Which runs are one answer to the reader: a cut one, and those that went on with it."""

from collections.abc import Sequence
from uuid import UUID

from ai_assistant.engine.again import GO_ON
from ai_assistant.engine.branches import tree_of
from ai_assistant.models.run import Run

MOST_PARTS = 200  # that are looked for above a run


def goes_on(run: Run) -> bool:
    """
    Tell whether nobody typed the question of a run: it goes on with the one above.

    A client may choose such a key; what the run continues it cannot say.
    """
    return run.continues_id is not None and run.idempotency_key.startswith(GO_ON)


def beginning(path: Sequence[UUID], place: int) -> int:
    """Return the place in `path` where the answer begins that the run at `place` is of."""
    if not place:
        return 0
    near = path[max(0, place - MOST_PARTS) : place + 1]
    found = Run.objects.filter(
        pk__in=near, continues__isnull=False, idempotency_key__startswith=GO_ON
    )
    later = set(found.values_list("pk", flat=True))
    while place and path[place] in later:
        place -= 1
    return place


def whole_answer(run: Run) -> list[UUID]:
    """Return the runs of the answer as far as `run`, the first one first."""
    if not goes_on(run):
        return [run.pk]
    path = tree_of(run.conversation).path_to(run.pk)
    return path[beginning(path, len(path) - 1) :]
