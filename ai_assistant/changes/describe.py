"""A recording as a person is shown it."""

from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.changes.display import name_of, shown
from ai_assistant.changes.fingerprint import fingerprint
from ai_assistant.changes.images import can_be_found, digest
from ai_assistant.changes.meta import meta
from ai_assistant.changes.objects import Recorded, objects_of, whole_before
from ai_assistant.changes.recorder import Recorder
from ai_assistant.changes.values import SHOWN, ChangeKind, Changes, FieldChange
from ai_assistant.changes.values import ObjectChange as Shown
from ai_assistant.changes.volatile import is_side, is_volatile

KINDS: dict[str, ChangeKind] = {
    "create": "create",
    "update": "change",
    "delete": "delete",
    "m2m_add": "link",
    "m2m_remove": "link",
}


def changes_of(recorder: Recorder, title: str) -> Changes:
    """
    Return what was recorded, to be shown; then only just that may happen.

    For a call that was tried out and taken back.
    """
    rows = [row for row in recorder.rows if not is_side(row.model)]
    objects = objects_of(rows)
    labels = {one.row.label for one in objects if not one.row.is_link}
    return Changes(
        title=title,
        model=labels.pop() if len(labels) == 1 else "",
        objects=tuple(_object(one) for one in objects[:SHOWN]),
        total=len(objects),
        warnings=tuple(gap_texts(recorder)),
        versions=_versions(objects),
        undoable=not recorder.gaps,
        exact=fingerprint(recorder),
    )


def gap_texts(recorder: Recorder) -> list[str]:
    """Return a sentence for each table in which something is not seen."""
    tables = dict.fromkeys(gap["table"] for gap in recorder.gaps)
    return [
        _("Something changes in “%(table)s” that cannot be shown.") % {"table": table}
        if table
        else _("Something changes that cannot be shown.")
        for table in tables
    ]


def _object(one: Recorded) -> Shown:
    row = one.row
    return Shown(
        kind=KINDS[one.kind],
        model=row.label,
        object_id="" if row.before is None else row.object_id,
        text=row.text,
        fields=_links(one) if row.is_link else _fields(one),
    )


def _fields(one: Recorded) -> tuple[FieldChange, ...]:
    if one.kind == "delete":
        return ()
    before, after = one.before or {}, one.after or {}
    found = []
    for row in one.rows:
        for field in meta(row.model).local_concrete_fields:
            is_key = field.primary_key or field.attname not in row.fields
            if is_key or is_volatile(field):
                continue
            found.append(
                FieldChange(
                    name=field.name,
                    label=capfirst(str(field.verbose_name)),
                    before=shown(field, before.get(field.attname), row.alias),
                    after=shown(field, after.get(field.attname), row.alias),
                    attname=field.attname,
                    raw=after.get(field.attname),
                )
            )
    return tuple(found)


def _links(one: Recorded) -> tuple[FieldChange, ...]:
    """Return the two ends of a many-to-many row."""
    row = one.row
    image: dict[str, Any] = row.after or row.before or {}
    ends = [field for field in meta(row.model).fields if field.is_relation]
    found = []
    for field in ends:
        text = name_of(field.related_model, image[field.attname], row.alias)
        found.append(
            FieldChange(
                name=field.name,
                label=capfirst(str(meta(field.related_model).verbose_name)),
                before="" if row.before is None else text,
                after="" if row.after is None else text,
                attname=field.attname,
                raw=(row.after or {}).get(field.attname),
            )
        )
    return tuple(found)


def _versions(objects: list[Recorded]) -> dict[str, str]:
    found = {}
    for one in objects:
        image = whole_before(one)
        if image is not None and can_be_found(one.row.model):
            found[one.row.key] = digest(image)
    return found
