"""The card of a call that was tried out: all that happens, in the words of its preview."""

from collections.abc import Iterator
from dataclasses import replace

from django.utils.translation import gettext as _

from ai_assistant.changes.capture.columns import raw
from ai_assistant.changes.capture.images import is_blank, same_value
from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.changes.values import (
    SHOWN,
    Changes,
    FieldChange,
    HiddenField,
    ObjectChange,
    Related,
    meta,
    model_of_label,
)
from ai_assistant.changes.verify.auto_fields import is_drawn, is_side
from ai_assistant.changes.verify.compare import counted_along
from ai_assistant.changes.verify.description import (
    gap_texts,
    is_unseen,
    object_shown,
    raw_fields,
    shown_objects,
    versions_of,
)
from ai_assistant.changes.verify.differences import RecordedObject, objects_of
from ai_assistant.changes.verify.expected import Expected, keys_of, link_ends
from ai_assistant.changes.verify.expected_values import Hiding
from ai_assistant.changes.verify.fingerprint import fingerprint


def completed(shown: Changes, recorder: Recorder) -> Changes:
    """
    Return what was recorded, as a person is shown it; only that may happen later.

    `shown` is what was expected: its words, its groups of related rows and its rows to
    choose from stay. Empty if nothing happens; an action may still do something that is
    no write.
    """
    return _Card(shown, recorder).changes()


class _Card:
    def __init__(self, shown: Changes, recorder: Recorder) -> None:
        self.shown, self.recorder = shown, recorder
        self.recorded = self._recorded()
        self.is_action = any(one.kind == "action" for one in shown.objects)
        self.draws = False  # another value than at the last trial
        self._matched: set[int] = set()
        self._by_key = {
            (row.label, row.object_id): obj
            for obj in self.recorded
            for row in obj.rows
            if obj.kind != "create" and not row.is_link
        }
        links = [obj.row for obj in self.recorded if obj.row.is_link]
        self._linked = {end for row in links for end in link_ends(row)}

    def changes(self) -> Changes:
        shown, gaps = self.shown, gap_texts(self.recorder)
        exact = fingerprint(self.recorder)
        wanted = () if self.is_action else shown.objects
        objects = [done for one in wanted if (done := self._done(one)) is not None]
        others = self._others()
        if self.is_action and not (others or gaps):
            return replace(shown, exact=exact)
        more = [obj for obj in others if obj.row.key not in shown.versions]
        total = shown.total - len(wanted) + len(objects) + len(more)
        listed = [object_shown(obj) for obj in others[: SHOWN - len(objects)]]
        listed = [*objects, *(one for one in listed if not _is_bare(one))]
        return replace(
            shown,
            objects=tuple(listed),
            total=max(len(listed), len(others) if self.is_action else total),
            related=tuple(self._related()),
            warnings=(*(() if self.is_action else shown.warnings), *gaps),
            versions={**shown.versions, **versions_of(shown_objects(self.recorder))},
            undoable=shown.undoable and not self.recorder.gaps,
            exact="" if self.draws and not others else exact,
            hidden=self._hidden(),
        )

    def _recorded(self) -> list[RecordedObject]:
        """Return the objects of a card, its targets even if the site leaves them out."""
        targets = {
            table
            for change in self.shown.objects
            for table, _pk in keys_of(change.model, "")
        }
        return objects_of(
            [
                row
                for row in self.recorder.rows
                if row.label in targets or not is_side(row.model)
            ]
        )

    def _others(self) -> list[RecordedObject]:
        """Return the recorded objects that were not expected at all."""
        known = self._matched | {id(obj) for _pk, obj in self._beyond()}
        return [
            obj
            for obj, _sentence in Expected(self.shown).unexpected(self.recorded)
            if id(obj) not in known and not is_unseen(obj)
        ]

    def _beyond(self) -> Iterator[tuple[str, RecordedObject]]:
        """Yield the targets of a bulk change that are not shown, with their keys."""
        ids = [pks for one in self.shown.hidden for pks in one.ids.values()]
        for pk in {pk for pks in ids for pk in pks}:
            keys = keys_of(self.shown.model, pk)
            if found := [self._by_key[key] for key in keys if key in self._by_key]:
                yield pk, found[0]

    def _done(self, expected: ObjectChange) -> ObjectChange | None:
        """Return what really happens to an object, None if it is nothing."""
        keys = keys_of(expected.model, expected.object_id)
        if expected.kind == "create":
            tables = [table for table, _pk in keys]
            found = (obj for obj in self.recorded if self._may_be(obj, tables))
        else:
            found = (self._by_key[key] for key in keys if key in self._by_key)
        obj = next(found, None)
        if obj is None:
            is_linked = any(key in self._linked for key in keys)
            links = tuple(
                one for one in expected.fields if _is_no_column(expected, one)
            )
            return replace(expected, fields=links) if is_linked and links else None
        self._matched.add(id(obj))
        real = object_shown(obj)
        done = replace(
            real,
            model=expected.model,
            object_id=expected.object_id,
            text=expected.text or real.text,
            fields=tuple(self._fields(expected, real, obj)),
        )
        return None if _is_bare(done) else done

    def _may_be(self, obj: RecordedObject, tables: list[str]) -> bool:
        is_new = obj.kind == "create" and id(obj) not in self._matched
        return is_new and obj.row.label in tables

    def _fields(
        self, expected: ObjectChange, real: ObjectChange, obj: RecordedObject
    ) -> Iterator[FieldChange]:
        """Yield the changes of the fields, those first that were expected."""
        by_attname = {one.attname: one for one in real.fields}
        for own in expected.fields:
            column = by_attname.pop(own.attname or own.name, None)
            if column is None:
                is_along = own.attname in obj.fields  # but asked for, too
                if is_along or real.kind == "create" or _is_no_column(expected, own):
                    yield own
            elif not own.attname or same_value(own.raw, column.raw):
                yield own
            elif self.shown.exact:
                self.draws = True
                said = _("another value each time")
                yield replace(own, after=said, attname="", raw=None)
            else:
                yield replace(column, label=own.label)
        for column in by_attname.values():
            if obj.kind != "create" or _is_set(obj, column):
                yield column

    def _related(self) -> Iterator[Related]:
        """Yield the groups of related changes, as many as happen."""
        counted = {
            id(group): count
            for group, count in counted_along(self.shown, self.recorded)
        }
        for group in self.shown.related:
            count = min(group.count, counted.get(id(group), group.count))
            if count:
                yield replace(group, count=count, texts=group.texts[:count])

    def _hidden(self) -> tuple[HiddenField, ...]:
        """Return the values of the rows beyond the first, as they really become."""
        if not self.shown.hidden:
            return ()
        model = model_of_label(self.shown.model)
        names = {field.name for field in meta(model).many_to_many}
        hiding = Hiding(model)
        for pk, obj in self._beyond():
            hiding.add(pk, (change for _row, change in raw_fields(obj)))
        links = (one for one in self.shown.hidden if one.name in names)
        return (*hiding.fields(), *links)


def _is_bare(change: ObjectChange) -> bool:
    """Return whether nothing can be said about an object that changes."""
    return change.kind == "change" and not change.fields


def _is_no_column(expected: ObjectChange, change: FieldChange) -> bool:
    """Return whether it is a many-to-many field, or one of the form alone."""
    options = meta(model_of_label(expected.model))
    return change.name not in {field.name for field in options.concrete_fields}


def _is_set(obj: RecordedObject, change: FieldChange) -> bool:
    """Return whether code has given a new row a value that is not its default."""
    if is_blank(change.raw):
        return False
    row = next(row for row in obj.rows if change.attname in row.fields)
    field = meta(row.model).get_field(change.name)
    if is_drawn(field):
        return False
    return not same_value(change.raw, raw(field, field.get_default()))
