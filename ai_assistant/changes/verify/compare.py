"""Compare the recorded changes with those that the person was shown."""

from collections import Counter
from collections.abc import Iterator

from django.utils.translation import gettext as _

from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.changes.values import Changes, ObjectChange, Related, model_name
from ai_assistant.changes.verify.description import gap_texts
from ai_assistant.changes.verify.differences import (
    MissingDifference,
    RecordedObject,
    UnexpectedDifference,
    objects_of,
)
from ai_assistant.changes.verify.expected import Expected, keys_of, link_ends
from ai_assistant.changes.verify.expected_values import check_fields, hidden_objects
from ai_assistant.changes.verify.fingerprint import fingerprint

COUNTED_AS = {
    "create": "create",
    "m2m_add": "create",
    "update": "change",
    "delete": "delete",
    "m2m_remove": "delete",
}


def unexpected_changes(preview: Changes, recorder: Recorder) -> list[str]:
    """
    Return a sentence for each difference from what was shown.

    It is an UnexpectedDifference for a change that was not shown, and a
    MissingDifference for a shown change that does not happen. Whatever was tried out
    before must happen in just that way. Of an admin action that was not, nothing could
    be shown: everything is expected there, and it is listed afterwards.
    """
    if preview.exact:
        if fingerprint(recorder) == preview.exact:
            return []
        return [_not_exact(preview, recorder)]
    if any(change.kind == "action" for change in preview.objects):
        return []
    actual = objects_of(recorder.rows)
    return [
        *map(UnexpectedDifference, gap_texts(recorder)),
        *Expected(preview).sentences(actual),
        *_missing_objects(preview, actual),
        *_fewer_along(preview, actual),
    ]


def _not_exact(preview: Changes, recorder: Recorder) -> str:
    """Return what a fingerprint shows of a difference: little, unless all is gone."""
    if recorder.rows or recorder.gaps or preview.is_empty:
        return _("Something other than what was shown would happen.")
    return MissingDifference(_("Nothing would change."))


# --- what did not happen ---


class ActualChanges:
    """The recorded changes, to be matched once with each object that was shown."""

    def __init__(self, objects: list[RecordedObject]) -> None:
        self._objects = {
            (row.label, row.object_id): obj for obj in objects for row in obj.rows
        }
        links = [obj.row for obj in objects if obj.row.is_link]
        self._linked = {end for row in links for end in link_ends(row)}
        new = [obj for obj in objects if obj.kind == "create"]
        self._created = Counter(row.label for obj in new for row in obj.rows)

    def has(self, change: ObjectChange) -> bool:
        """Return whether anything happened to an object, or one of its kind is new."""
        keys = keys_of(change.model, change.object_id)
        if change.kind != "create":
            return any(key in self._objects or key in self._linked for key in keys)
        for table, _own in keys:
            if self._created[table] > 0:
                self._created[table] -= 1
                return True
        return False

    def has_all(self, change: ObjectChange) -> bool:
        """Return whether all that was shown of an object has happened to it."""
        keys = keys_of(change.model, change.object_id)
        objects = [self._objects[key] for key in keys if key in self._objects]
        if change.kind == "delete":
            return any(obj.kind == "delete" for obj in objects)
        if change.kind == "change" and any(
            check_fields(obj, change) for obj in objects
        ):
            return False
        return self.has(change)


def _missing_objects(
    preview: Changes, recorded: list[RecordedObject]
) -> list[MissingDifference]:
    """
    Return a sentence for each shown object to which nothing happened.

    The site's own code may have left it out: the person would believe otherwise.
    """
    actual = ActualChanges(recorded)
    missing = [
        change
        for change in (*preview.objects, *hidden_objects(preview))
        if not actual.has(change)
    ]
    return [
        MissingDifference(
            _("%s would not be created.") % _object_name(change)
            if change.kind == "create"
            else _("%s would stay as it is.") % _object_name(change)
        )
        for change in missing
    ]


def left_undone(preview: Changes, recorded: list[RecordedObject]) -> list[str]:
    """
    Return the names of the shown objects that were not changed as shown.

    `recorded` is all that was done; none of it was unexpected.
    """
    actual = ActualChanges(recorded)
    objects = (*preview.objects, *hidden_objects(preview))
    return [_object_name(change) for change in objects if not actual.has_all(change)]


def _fewer_along(
    preview: Changes, objects: list[RecordedObject]
) -> list[MissingDifference]:
    """Return a sentence for each model with fewer related changes than counted."""
    sentences = []
    for group, count in counted_along(preview, objects):
        if count < group.count and not group.at_most:
            text = _("Only %(count)d of %(shown)d %(label)s would be included.")
            values = {"count": count, "shown": group.count, "label": group.label}
            sentences.append(MissingDifference(text % values))
    return sentences


def counted_along(
    preview: Changes, objects: list[RecordedObject]
) -> Iterator[tuple[Related, int]]:
    """Yield the related changes, with the number of those that happened."""
    counts = Counter(
        (row.label, COUNTED_AS[obj.kind]) for obj in objects for row in obj.rows
    )
    counts.subtract(_targets(preview))
    for group in preview.related:
        if group.kind in COUNTED_AS.values():
            count = max(0, counts[keys_of(group.model, "")[0][0], group.kind])
            yield group, count


def _targets(preview: Changes) -> Counter[tuple[str, str]]:
    """Return how many rows of each table the call itself targets."""
    counts: Counter[tuple[str, str]] = Counter()
    for change in preview.objects:
        counts.update((table, change.kind) for table, _own in keys_of(change.model, ""))
    rest = preview.total - len(preview.objects)
    if rest > 0 and preview.objects:
        for table, _own in keys_of(preview.model, ""):
            counts[table, preview.objects[0].kind] += rest
    return counts


def _object_name(change: ObjectChange) -> str:
    name = model_name(change.model)
    return f"{name} “{change.text}”" if change.text else name
