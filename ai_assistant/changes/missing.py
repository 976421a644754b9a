"""What a person was shown, and what did not happen."""

from collections import Counter
from collections.abc import Iterable, Mapping

from django.utils.translation import gettext as _

from ai_assistant.changes.expected import keys_of, link_ends
from ai_assistant.changes.expected_fields import check_fields
from ai_assistant.changes.expected_hidden import hidden_objects
from ai_assistant.changes.meta import meta, model_of_label
from ai_assistant.changes.objects import Recorded
from ai_assistant.changes.values import Changes, ObjectChange


def missing(shown: Changes, happened: Iterable[Recorded]) -> list[str]:
    """
    Return a sentence for each shown object to which nothing happened.

    The site's own code may have left it out: the person would believe otherwise.
    """
    happened = list(happened)
    touched, made = _touched(happened), _made(happened)
    found = []
    for one in (*shown.objects, *hidden_objects(shown)):
        if one.kind == "create":
            if not _take(made, one):
                found.append(_("%s would not be created.") % _named(one))
        elif not touched.intersection(keys_of(one.model, one.object_id)):
            found.append(_("%s would stay as it is.") % _named(one))
    return found


def left_undone(shown: Changes, happened: Iterable[Recorded]) -> list[str]:
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
    known: Mapping[tuple[str, str], Recorded],
) -> bool:
    keys = keys_of(shown.model, shown.object_id)
    found = [known[key] for key in keys if key in known]
    if shown.kind == "delete":
        return any(one.kind == "delete" for one in found)
    if shown.kind == "change" and any(check_fields(one, shown) for one in found):
        return False
    return not touched.isdisjoint(keys)


def _touched(happened: list[Recorded]) -> set[tuple[str, str]]:
    """Return the rows to which something happened, by table and id."""
    keys = {(row.label, row.object_id) for one in happened for row in one.rows}
    links = [one.row for one in happened if one.row.is_link]
    return keys | {end for row in links for end in link_ends(row)}


def _made(happened: list[Recorded]) -> Counter[str]:
    """Return how many rows were made, by table."""
    new = [one for one in happened if one.kind == "create"]
    return Counter(row.label for one in new for row in one.rows)


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
