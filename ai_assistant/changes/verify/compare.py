"""Compare the recorded changes with those that the person was shown."""

from collections import Counter

from django.utils.translation import gettext as _

from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.changes.values import Changes, ObjectChange, model_name
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


def unexpected_changes(shown: Changes, recorder: Recorder) -> list[str]:
    """
    Return a sentence for each thing that is not as it was shown.

    It is More or Less if something comes beside what was shown, or does not come.
    Whatever was tried out before must happen in just that way. Of an admin action
    nothing could be shown, since it is code of the site: everything is expected
    there, and it is listed afterwards.
    """
    if any(one.kind == "action" for one in shown.objects):
        return []
    if shown.exact:
        if fingerprint(recorder) == shown.exact:
            return []
        return [_not_exact(shown, recorder)]
    happened = objects_of(recorder.rows)
    return [
        *map(UnexpectedDifference, gap_texts(recorder)),
        *Expected(shown).sentences(happened),
        *_missing_objects(shown, happened),
        *_fewer_along(shown, happened),
    ]


def _not_exact(shown: Changes, recorder: Recorder) -> str:
    """Return what a fingerprint shows of a difference: little, unless all is gone."""
    if recorder.rows or recorder.gaps or shown.is_empty:
        return _("Something other than what was shown would happen.")
    return MissingDifference(_("Nothing would change."))


# --- what did not happen ---


class Happened:
    """The recorded changes, to be matched once with each object that was shown."""

    def __init__(self, happened: list[RecordedObject]) -> None:
        self._known = {
            (row.label, row.object_id): one for one in happened for row in one.rows
        }
        links = [one.row for one in happened if one.row.is_link]
        self._linked = {end for row in links for end in link_ends(row)}
        new = [one for one in happened if one.kind == "create"]
        self._made = Counter(row.label for one in new for row in one.rows)

    def has(self, shown: ObjectChange) -> bool:
        """Return whether anything happened to an object, or one of its kind is new."""
        keys = keys_of(shown.model, shown.object_id)
        if shown.kind != "create":
            return any(key in self._known or key in self._linked for key in keys)
        for table, _own in keys:
            if self._made[table] > 0:
                self._made[table] -= 1
                return True
        return False

    def has_all(self, shown: ObjectChange) -> bool:
        """Return whether all that was shown of an object has happened to it."""
        keys = keys_of(shown.model, shown.object_id)
        found = [self._known[key] for key in keys if key in self._known]
        if shown.kind == "delete":
            return any(one.kind == "delete" for one in found)
        if shown.kind == "change" and any(check_fields(one, shown) for one in found):
            return False
        return self.has(shown)


def _missing_objects(
    shown: Changes, happened: list[RecordedObject]
) -> list[MissingDifference]:
    """
    Return a sentence for each shown object to which nothing happened.

    The site's own code may have left it out: the person would believe otherwise.
    """
    done = Happened(happened)
    missing = [
        one for one in (*shown.objects, *hidden_objects(shown)) if not done.has(one)
    ]
    return [
        MissingDifference(
            _("%s would not be created.") % _named(one)
            if one.kind == "create"
            else _("%s would stay as it is.") % _named(one)
        )
        for one in missing
    ]


def left_undone(shown: Changes, happened: list[RecordedObject]) -> list[str]:
    """
    Return the names of the shown objects that are not as they were to be.

    `happened` is all that was done, of which nothing was unexpected.
    """
    done = Happened(happened)
    objects = (*shown.objects, *hidden_objects(shown))
    return [_named(one) for one in objects if not done.has_all(one)]


def _fewer_along(
    shown: Changes, happened: list[RecordedObject]
) -> list[MissingDifference]:
    """Return a sentence for each model of which fewer go along than were counted."""
    done = Counter(
        (row.label, COUNTED_AS[one.kind]) for one in happened for row in one.rows
    )
    done.subtract(_targets(shown))
    found = []
    for group in (one for one in shown.related if not one.at_most):
        count = max(0, done[keys_of(group.model, "")[0][0], group.kind])
        if group.kind in COUNTED_AS.values() and count < group.count:
            text = _("Only %(count)d of %(shown)d %(label)s would be included.")
            named = {"count": count, "shown": group.count, "label": group.label}
            found.append(MissingDifference(text % named))
    return found


def _targets(shown: Changes) -> Counter[tuple[str, str]]:
    """Return how many rows of each table the call is for, beside what goes along."""
    found: Counter[tuple[str, str]] = Counter()
    for one in shown.objects:
        found.update((table, one.kind) for table, _own in keys_of(one.model, ""))
    more = shown.total - len(shown.objects)
    if more > 0 and shown.objects:
        for table, _own in keys_of(shown.model, ""):
            found[table, shown.objects[0].kind] += more
    return found


def _named(shown: ObjectChange) -> str:
    name = model_name(shown.model)
    return f"{name} “{shown.text}”" if shown.text else name
