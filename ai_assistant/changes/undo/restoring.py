"""
Carry out the plan of an undo, inside a recording.

First rows come back, parents before children; then those that stay are changed. Each is
saved as an instance, so that the site's signals hear of it. What is then not as its image
says, for whatever reason, is put in by an UPDATE. Then rows go.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models.deletion import ProtectedError, RestrictedError

from ai_assistant.changes.capture.files import restored_file
from ai_assistant.changes.capture.images import (
    Image,
    all_rows,
    in_batches,
    same_value,
)
from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.changes.undo.columns import (
    differing,
    instance_of,
    names_database,
    park,
    put_in,
    python_value,
    python_values,
    saved_columns,
)
from ai_assistant.changes.undo.groups import parents_first
from ai_assistant.changes.undo.links import telling
from ai_assistant.changes.undo.lookups import taken_values, unique_sets
from ai_assistant.changes.undo.obstacles import LINKS
from ai_assistant.changes.undo.rows import (
    stored_instance,
    stored_rows,
    unique_images,
    wanted_image,
)
from ai_assistant.changes.undo.values import (
    DOES,
    Choice,
    Outcome,
    Saver,
    UndoPlan,
    UndoRow,
)
from ai_assistant.changes.values import concrete, meta, parent_links
from ai_assistant.changes.verify.differences import RecordedObject


def work_of(plan: UndoPlan, choice: Choice) -> list[UndoRow]:
    """
    Return the rows that are to be done, with what the person decided of conflicts.

    Where people's changes are given up, conflicts are restored too.
    """
    rows = []
    for row in plan.chosen(choice):
        if row.can_overrule and row.key in choice.overruled:
            row.outcome = Outcome.RESTORE
            for one in row.fields:
                if one.outcome == Outcome.CONFLICT:
                    one.outcome = Outcome.RESTORE
        is_known = row.obj is not None or row.rollback is not None
        if is_known and row.does_something:
            rows.append(row)
    return rows


@dataclass(kw_only=True, slots=True)
class Restorer:
    """Does the work of one undo; its recording is open."""

    rows: list[UndoRow]
    recorder: Recorder
    saver: Saver | None = None
    at: str = ""  # the key of the row on which it works

    def carry_out(self) -> None:
        """Do all of it. Raises what the site's code and the database raise."""
        self._cover()
        self._park()
        back = parents_first(self._of("create"))
        for _table, rows in groupby(back, lambda row: (row.alias, row.model)):
            self._create_all(list(rows))
        for row in self._one_by_one(self._of("link")[::-1]):
            self._link(row)
        for row in self._one_by_one(self._of("change")):
            self._change(row)
        self._put_in()
        for row in self._one_by_one(self._of("unlink")):
            self._unlink(row)
        self._delete(self._of("delete"))
        for row in self._one_by_one([*self._of("create"), *self._of("change")]):
            self._restore_files(row)

    def differing(self) -> list[UndoRow]:
        """Return the rows that are not as the plan says, once the recording is closed."""
        return [row for row in self.rows if not self._is_as_planned(row)]

    def _one_by_one(self, rows: Iterable[UndoRow]) -> Iterator[UndoRow]:
        for row in rows:
            self.at = row.key
            yield row
        self.at = ""

    def _of(self, action: str) -> list[UndoRow]:
        return [row for row in self.rows if row.action == action]

    def _recorded(self, part: RowImage) -> RowImage | None:
        """Return what this undo has recorded of a row; None if it has not met it."""
        return self.recorder.row(part.model, part.alias, _key(part.model, part.pk))

    def _cover(self) -> None:
        """Take images of the rows in few queries."""
        keys: dict[tuple[str, Any], list[Any]] = defaultdict(list)
        for row in (*self._of("change"), *self._of("unlink")):
            for model, pk, _image in stored_rows(row):
                keys[row.alias, model].append(pk)
        for (alias, model), those in keys.items():
            self.recorder.meet(model, alias, those, is_covered=True)
        going = [stored_instance(row) for row in self._of("delete")]
        if going := [one for one in going if one is not None]:
            self.recorder.cover_delete(going)

    # --- values that must be unique ---

    def _park(self) -> None:
        """Move values out of the way that another row of the undo needs."""
        for (alias, model), images in unique_images(self.rows).items():
            for _pk, names, other in list(taken_values(model, alias, images)):
                park(model, alias, names, other)

    # --- columns ---

    def _put_in(self) -> None:
        """Let rows hold what the images say, whatever has been saved with them."""
        images: dict[tuple[str, Any], dict[Any, Image]] = defaultdict(dict)
        keys: dict[tuple[Any, Any], str] = {}
        for row in (*self._of("create"), *self._of("change")):
            for model, pk, image in stored_rows(row):
                key = _key(model, pk)
                images[row.alias, model][key] = image
                keys[model, key] = row.key
        for (alias, model), those in images.items():
            found = dict(differing(model, alias, those))
            moved = {pk: those[pk] for pk in found}
            for _pk, names, other in list(taken_values(model, alias, moved)):
                if other in moved:
                    park(model, alias, names, other)
            for pk, image in found.items():
                self.at = keys[model, pk]
                put_in(model, alias, pk, image)
        self.at = ""

    # --- rows that come back ---

    def _create_all(self, rows: list[UndoRow]) -> None:
        """Let objects of one model come back."""
        objects = {row.key: row.obj for row in rows if row.obj is not None}
        first = next(iter(objects.values())).row
        every = all_rows(first.model, first.alias)
        keys = [obj.row.pk for obj in objects.values()]
        there = {
            pk
            for some in in_batches(every, keys)
            for pk in some.values_list("pk", flat=True)
        }
        self._make_room([obj.row for obj in objects.values()])
        made, table = self.recorder.made, (first.alias, concrete(first.model))
        site_makes_others = False
        for row in self._one_by_one(rows):
            own = objects[row.key].row
            is_there = _key(own.model, own.pk) in there
            if site_makes_others:
                self._make_room([own])
                is_there |= every.filter(pk=own.pk).exists()
            count = made[table]
            self._create(objects[row.key], is_there=is_there)
            site_makes_others |= made[table] > count + 1

    def _create(self, obj: RecordedObject, *, is_there: bool) -> None:
        model, alias, image = obj.row.model, obj.row.alias, obj.before or {}
        instance = instance_of(model, image, alias, is_new=True)
        parents = {part.model for part in obj.rows[1:]}
        if {parent for parent, _link in parent_links(model)} - parents:
            instance.save_base(raw=True, using=alias, force_insert=True)
        elif is_there:
            instance._state.adding = False
            self._save(instance, image)
        else:
            self._save(instance, image, force_insert=True)

    def _make_room(self, rows: list[RowImage]) -> None:
        """Remove what signals of the site have made in this undo in their place."""
        model, alias = rows[0].model, rows[0].alias
        unique = [
            meta(model).get_field(n) for names in unique_sets(model) for n in names
        ]
        if not any(field.is_relation for field in unique):
            return  # no row is made for another one
        images = {row.pk: row.before or {} for row in rows}
        for _pk, _names, other in list(taken_values(model, alias, images)):
            made = self.recorder.row(concrete(model), alias, other)
            if made is not None and made.before is None:
                all_rows(model, alias).filter(pk=other).delete()

    def _save(
        self, instance: Any, names: Iterable[str], *, force_insert: bool = False
    ) -> None:
        """Save an instance of which these columns are new: as the site says, or so."""
        columns = saved_columns(type(instance))
        values = {name: getattr(instance, name) for name in names if name in columns}
        is_new = instance._state.adding
        if self.saver is None or not self.saver.save(instance, values, is_new=is_new):
            options = names_database(instance)
            if force_insert:
                options["force_insert"] = True
            instance.save(**options)

    def _link(self, row: UndoRow) -> None:
        if row.obj is None:
            return
        image, first = row.obj.before or {}, row.obj.row
        alias, through = first.alias, first.model
        values = python_values(through, image)
        key = meta(through).pk.attname
        if all_rows(through, alias).filter(pk=values[key]).exists():
            del values[key]  # of another link by now
        with telling(row, through, image, alias, "add"):
            all_rows(through, alias).bulk_create([through(**values)])

    def _unlink(self, row: UndoRow) -> None:
        if row.obj is None or row.now is None:
            return
        alias, through = row.obj.row.alias, row.obj.row.model
        key = python_value(meta(through).pk, row.now[meta(through).pk.attname])
        with telling(row, through, row.now, alias, "remove"):
            all_rows(through, alias).filter(pk=key).delete()

    # --- rows that stay ---

    def _change(self, row: UndoRow) -> None:
        instance = stored_instance(row)
        if instance is None:
            return
        fields = {one.attname: one for one in meta(instance).concrete_fields}
        restored = [one for one in row.fields if one.outcome in DOES]
        for one in restored:
            value = python_value(fields[one.attname], one.raw)
            setattr(instance, one.attname, value)
        self._save(instance, [one.attname for one in restored])

    # --- rows that go ---

    def _delete(self, rows: list[UndoRow]) -> None:
        """Delete rows, newest first; one that protects another goes before it."""
        left = rows
        while left:
            waiting, error = [], None
            for row in self._one_by_one(left):
                try:
                    self._delete_one(row)
                except (ProtectedError, RestrictedError) as protected:
                    waiting.append(row)
                    error = protected
            if error is not None and len(waiting) == len(left):
                self.at = waiting[0].key
                raise error
            left = waiting

    def _delete_one(self, row: UndoRow) -> None:
        if row.obj is None:
            return
        first = row.obj.row
        found = all_rows(first.model, first.alias).filter(pk=first.pk).first()
        if found is None:  # it went with another one
            return
        if self.saver is None or not self.saver.delete(found):
            found.delete(**names_database(found))

    # --- files ---

    def _restore_files(self, row: UndoRow) -> None:
        if row.obj is None:
            return
        by_field = {file.field: file for file in row.files if file.stash}
        for part in row.obj.rows:
            for field in meta(part.model).local_concrete_fields:
                file = by_field.get(field.attname)
                name = (part.before or {}).get(field.attname)
                restored = [one.attname for one in row.fields if one.outcome in DOES]
                is_wanted = row.action == "create" or field.attname in restored
                if file is None or not name or not is_wanted:
                    continue
                known = self._recorded(part)
                if known is not None:
                    self.recorder.files.keep_all([known])
                saved = restored_file(field.storage, name, file)
                if saved != name:
                    found = all_rows(part.model, part.alias).filter(pk=part.pk)
                    found.update(**{field.attname: saved})

    # --- afterwards ---

    def _is_as_planned(self, row: UndoRow) -> bool:
        if row.obj is None or row.action in LINKS:
            return True
        for part in row.obj.rows:
            found = self._recorded(part)
            wanted = wanted_image(row, part)
            if found is None:
                return False
            after = found.after
            if (wanted is None) != (after is None):
                return False
            if wanted is None or after is None:
                continue
            files = {file.field for file in row.files}
            if any(
                not same_value(after.get(name), value)
                for name, value in wanted.items()
                if name in after and name not in files
            ):
                return False
        return True


def _key(model: Any, pk: Any) -> Any:
    """Return a key as the database has it; an image may have it as text."""
    return python_value(meta(model).pk, pk)
