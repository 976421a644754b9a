"""
What a reader who is not its user sees of calls and changes: rows of their own rights.

A result, or what was shown for approval, is drawn where the reader sees each row that
it names, a changed row where they see that, each with the fields that they see in the
admin. Of tools the data tools' alone: what the result of any other names is unknown.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.utils.text import capfirst

from ai_assistant.changes.stored import stored_changes
from ai_assistant.changes.values import FieldChange, ObjectChange
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.registry import registry
from ai_assistant.render.html.cards.interrupts import last_decision
from ai_assistant.render.html.cards.result import table_entry
from ai_assistant.render.html.diffs.changes import FIRST_ROWS, SHOWN_ROWS
from ai_assistant.render.html.diffs.differences import (
    difference_entry,
    object_entry,
    tell_apart,
)
from ai_assistant.render.html.diffs.rows import headline, readable_rows
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.reader import Named, Reader
from ai_assistant.tools.data.reading.named import (
    NamedRow,
    NamedRows,
    data_tools,
    is_data_tool,
    named_by,
    rows_in,
)
from ai_assistant.tools.summary import table_of

Entry = dict[str, Any]

# Stands for rows that are not looked at: no reader sees it.
UNKNOWN = ObjectChange(
    kind="change", model="", fields=(FieldChange(name="", label=""),)
)


class SeenRows:
    """The results and changes of some runs, for one reader: asked for all at once."""

    def __init__(
        self, user: Any, run_ids: Collection[UUID], calls: Iterable[ToolCall]
    ) -> None:
        self._reader = Reader(user)
        self._results = dict(_results(run_ids))  # by the id of a call
        self._changes = _changes(run_ids)  # by the id of a run
        rows = [row for found in self._results.values() for row in found.rows]
        changes = [one for found in self._changes.values() for one in found]
        changes += [one for call in calls for one in _proposed(call)]
        named = {(row.label, row.key) for row in rows}
        self._reader.look_at(named | {(one.model, one.object_id) for one in changes})
        related = [named for row in rows for named in self._related(row).values()]
        self._reader.look_at({one for named in related for one in named})

    # --- calls ---

    def result(self, call: ToolCall) -> Entry:
        """Return the line and the table of a result; nothing if a row is not seen."""
        found = self._results.get(call.pk)
        if found is None or self._reader.access(found.label) is None:
            return {}
        if not all(self._reader.sees(row.label, row.key) for row in found.rows):
            return {}
        is_whole = found.total in (None, len(found.rows))
        if not is_whole and not self._reader.sees_every(found.label):
            return {}  # how many there are says something of the others
        rows = [self._row(row) for row in found.rows]
        data: Entry = {"model": found.label, "rows": rows, "total": found.total}
        if found.total is None:
            data = {"model": found.label, **rows[0]}
        return {"summary": _line(call, data), "table": table_entry(table_of(data))}

    def _row(self, row: NamedRow) -> Entry:
        related = self._related(row)
        fields = {
            name: value
            for name, value in row.fields.items()
            if name in related and all(self._reader.sees(*one) for one in related[name])
        }
        return {"id": row.key, "text": row.text, "fields": fields}

    def _related(self, row: NamedRow) -> dict[str, list[Named]]:
        """Return the fields of a row that the reader sees, with the rows they name."""
        fields = self._reader.fields(row.label, row.key)
        return {
            name: named_by(fields[name], value)
            for name, value in row.fields.items()
            if name in fields
        }

    def decision(self, call: ToolCall) -> Entry:
        """Return what was shown for approval; nothing if a row is not seen."""
        last = last_decision(call)
        seen = [self._seen(one) for one in _proposed(call)]
        changes = stored_changes(last.proposal) if last and seen else None
        if changes is None or last is None or not all(seen):
            return {}
        shown = replace(
            changes,
            title=call.label or call.name,
            objects=tuple(filter(None, seen)),
            warnings=(),  # these are sentences: whatever they name
            undo_limits=(),
        )
        decided = {
            "id": str(call.pk),
            "sentence": capfirst(last.get_status_display()),
            "diff": difference_entry(shown),
        }
        return {"decision": decided}

    # --- changes ---

    def changed(self, run_id: UUID) -> tuple[Entry | None, bool]:
        """Return what `changes.html` draws of a run, and whether there is more."""
        changes = self._changes.get(run_id, [])
        seen = [*filter(None, map(self._seen, changes))]
        is_more = len(seen) < len(changes)
        if not seen:
            return None, is_more
        among = sum(len(one.fields) for one in seen)
        objects = [object_entry(one, among=among) for one in seen]
        tell_apart(objects)
        for place, entry in enumerate(objects, start=1):
            entry["place"] = place
        counts: Counter[tuple[str, str]] = Counter(
            (one.model, one.kind) for one in seen
        )
        entry = {
            "run_id": str(run_id),
            "headline": headline(seen, counts),
            "count": len(objects),
            "objects": objects[:FIRST_ROWS],
            "others": objects[FIRST_ROWS:],
            "rest": max(0, len(objects) - FIRST_ROWS),
        }
        return entry, is_more

    def _seen(self, change: ObjectChange) -> ObjectChange | None:
        """Return the change with the fields that the reader sees; None without any."""
        if not self._reader.sees(change.model, change.object_id):
            return None
        fields = self._reader.fields(change.model, change.object_id)
        kept = tuple(
            one for one in change.fields if self._sees_values(fields.get(one.name))
        )
        return replace(change, fields=kept) if kept or not change.fields else None

    def _sees_values(self, column: Any) -> bool:
        """Return whether the reader sees a field, and each row that it may have named."""
        if column is None or not column.is_relation:
            return column is not None
        return self._reader.sees_every(column.related_model._meta.label_lower)


def _results(run_ids: Collection[UUID]) -> Iterator[tuple[UUID, NamedRows]]:
    """Yield the rows that the data tools have found, by the id of the call."""
    done = ToolCall.objects.filter(
        run_id__in=run_ids, status=CallStatus.COMPLETE, name__in=data_tools()
    )
    for pk, result in done.values_list("pk", "result"):
        found = rows_in((result or {}).get("data"))
        if found is not None:
            yield pk, found


def _line(call: ToolCall, data: Entry) -> str:
    """Return what happened, from the rows alone: arguments may name any other."""
    tool = registry.tool(call.name)
    own = tool.display.summary if tool is not None else None
    return "" if own is None else value_or("", lambda: str(own({}, data) or ""))


def _proposed(call: ToolCall) -> tuple[ObjectChange, ...]:
    """Return what a data tool has shown for approval, if that was all of it."""
    last = last_decision(call)
    if last is None or not is_data_tool(call.name):
        return ()
    changes = stored_changes(last.proposal)
    if changes is None or changes.related or changes.total > len(changes.objects):
        return ()
    return changes.objects


def _changes(run_ids: Collection[UUID]) -> dict[UUID, list[ObjectChange]]:
    """Return what each run has changed; of many rows the first, and UNKNOWN."""
    rows = RowChange.objects.filter(
        change_set__run_id__in=run_ids,
        change_set__kind=ChangeSet.Kind.CALL,
        order__lte=SHOWN_ROWS,
    )
    rows = rows.select_related("change_set").defer("change_set__snapshots")
    stored = list(rows.order_by("change_set__created_at", "change_set", "order"))
    found: dict[UUID, list[ObjectChange]] = defaultdict(list)
    for row, change in zip(stored, readable_rows(stored), strict=True):
        run_id = row.change_set.run_id
        if run_id is not None:
            found[run_id].append(UNKNOWN if row.order == SHOWN_ROWS else change)
    return dict(found)
