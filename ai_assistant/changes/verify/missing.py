"""What a person was shown, and what did not happen."""

from collections import Counter
from collections.abc import Iterable, Mapping

from django.utils.translation import gettext as _

from ai_assistant.changes.values import (
    Changes,
    ObjectChange,
    Related,
    meta,
    model_of_label,
)
from ai_assistant.changes.verify.differences import MissingDifference, RecordedObject
from ai_assistant.changes.verify.expected import keys_of, link_ends
from ai_assistant.changes.verify.expected_values import check_fields, hidden_objects

KINDS = {
    "create": "create",
    "m2m_add": "create",
    "update": "change",
    "delete": "delete",
    "m2m_remove": "delete",
}


def missing_changes(
    shown: Changes, happened: Iterable[RecordedObject]
) -> list[MissingDifference]:
    """
    Return a sentence for each shown object to which nothing happened.

    And one for each model of which fewer objects go along than were counted.

    The site's own code may have left it out: the person would believe otherwise.
    """
    happened = list(happened)
    touched, made = _touched(happened), _made(happened)
    found: list[MissingDifference] = []
    for one in (*shown.objects, *hidden_objects(shown)):
        if one.kind == "create":
            if not _take(made, one):
                found.append(
                    MissingDifference(_("%s would not be created.") % _named(one))
                )
        elif not touched.intersection(keys_of(one.model, one.object_id)):
            found.append(MissingDifference(_("%s would stay as it is.") % _named(one)))
    return [*found, *_fewer_along(shown, happened)]


def left_undone(shown: Changes, happened: Iterable[RecordedObject]) -> list[str]:
    """
    Return the names of the shown objects that are not as they were to be.

    `happened` is all that was done, of which nothing was unexpected.
    """
    happened = list(happened)
    touched, made = _touched(happened), _made(happened)
    known = {(row.label, row.object_id): one for one in happened for row in one.rows}
    return [
        _named(one)
        for one in (*shown.objects, *hidden_objects(shown))
        if not (
            _take(made, one) if one.kind == "create" else _is_done(one, touched, known)
        )
    ]


def _is_done(
    shown: ObjectChange,
    touched: set[tuple[str, str]],
    known: Mapping[tuple[str, str], RecordedObject],
) -> bool:
    keys = keys_of(shown.model, shown.object_id)
    found = [known[key] for key in keys if key in known]
    if shown.kind == "delete":
        return any(one.kind == "delete" for one in found)
    if shown.kind == "change" and any(check_fields(one, shown) for one in found):
        return False
    return not touched.isdisjoint(keys)


def _touched(happened: list[RecordedObject]) -> set[tuple[str, str]]:
    """Return the rows to which something happened, by table and id."""
    keys = {(row.label, row.object_id) for one in happened for row in one.rows}
    links = [one.row for one in happened if one.row.is_link]
    return keys | {end for row in links for end in link_ends(row)}


def _made(happened: list[RecordedObject]) -> Counter[str]:
    """Return how many rows were made, by table."""
    new = [one for one in happened if one.kind == "create"]
    return Counter(row.label for one in new for row in one.rows)


def _fewer_along(
    shown: Changes, happened: list[RecordedObject]
) -> list[MissingDifference]:
    done = Counter((row.label, KINDS[one.kind]) for one in happened for row in one.rows)
    done.subtract(_targets(shown))
    found = []
    for group in (one for one in shown.related if not one.at_most):
        count = max(0, done[keys_of(group.model, "")[0][0], group.kind])
        if group.kind in KINDS.values() and count < group.count:
            found.append(_fewer(group, count))
    return found


def _fewer(group: Related, count: int) -> MissingDifference:
    text = _("Only %(count)d of %(shown)d %(label)s would be included.")
    named = {"count": count, "shown": group.count, "label": group.label}
    return MissingDifference(text % named)


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


def _take(made: Counter[str], shown: ObjectChange) -> bool:
    """Take one of the objects that were made, if there is one of this model."""
    for table, _own in keys_of(shown.model, ""):
        if made[table] > 0:
            made[table] -= 1
            return True
    return False


def _named(shown: ObjectChange) -> str:
    model = model_of_label(shown.model)
    name = shown.model if model is None else str(meta(model).verbose_name)
    return f"{name} “{shown.text}”" if shown.text else name
