"""The rows of a run, and of the agents that it asked: each table is read once."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models.functions import Substr

from ai_assistant.engine.interrupts.base import kind_names
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run, Step

MOST_CHILDREN = 20  # that are drawn whole
READ_CHARS = 3000  # a secret that is cut is not known as one: more is read than shown
OF_CALL = (
    *("run", "step", "parent", "position", "name", "label", "effect", "status"),
    *("reason", "error", "arguments", "arguments_text", "hooked"),
    *("created_at", "started_at", "finished_at"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TraceRows:
    """A run and the runs of the agents that it asked; their rows by the run."""

    run: Run
    children: list[Run]
    steps: Mapping[UUID, list[Step]]
    calls: Mapping[UUID, list[Any]]  # `told` is the first of what the model read
    asked: Mapping[UUID, list[Interrupt]]  # of people

    @property
    def runs(self) -> list[Run]:
        """The runs whose rows are here."""
        return [self.run, *self.children[:MOST_CHILDREN]]


def trace_rows(run: Run) -> TraceRows:
    """Read what the page of a run needs."""
    asked = Run.objects.filter(conversation__parent_call__run=run)
    children = list(asked.select_related("conversation").order_by("created_at"))
    keys = [run.pk, *(child.pk for child in children[:MOST_CHILDREN])]
    steps = Step.objects.filter(run__in=keys).select_related("message")
    calls: Any = ToolCall.objects.filter(run__in=keys).only(*OF_CALL)
    people = Interrupt.objects.filter(
        run__in=keys, kind__in=kind_names(for_person=True)
    )
    people = people.select_related("decided_by").defer("proposal", "request")
    return TraceRows(
        run=run,
        children=children,
        steps=_by_run(steps.defer("prompt", "provider_fields").order_by("index")),
        calls=_by_run(
            calls.annotate(told=Substr("result_text", 1, READ_CHARS)).order_by(
                "step", "position"
            )
        ),
        asked=_by_run(people.order_by("created_at")),
    )


def _by_run(rows: Any) -> Mapping[UUID, list[Any]]:
    found: dict[UUID, list[Any]] = defaultdict(list)
    for row in rows:
        found[row.run_id].append(row)
    return found
