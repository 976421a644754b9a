"""Columns and rows that change by themselves, and need no approval."""

from functools import cache
from typing import Any

from django.db import models

from ai_assistant import conf
from ai_assistant.changes.values import concrete, meta
from ai_assistant.safety.site_code import value_or

STANDARD = {
    models.Field.pre_save,
    models.DateField.pre_save,
    models.DateTimeField.pre_save,
    models.TimeField.pre_save,
    models.FileField.pre_save,
}
CLOCKS = (models.DateField, models.TimeField)  # a DateTimeField is a DateField
SIDES = ("width_field", "height_field")
HISTORY_PACKAGES = frozenset({"auditlog", "reversion", "simple_history"})


def is_volatile(field: Any) -> bool:
    """
    Return whether the column may change without approval.

    It is filled in by the field or the database, or the site has named it in
    WRITTEN_ALONG.
    """
    side = conf.get("DATA", "WRITTEN_ALONG")
    if side and f"{meta(field.model).label_lower}.{field.name}" in map(str.lower, side):
        return True
    return _fills_itself(field)


@cache
def _fills_itself(field: Any) -> bool:
    if isinstance(field, CLOCKS) and (field.auto_now or field.auto_now_add):
        return True
    if getattr(field, "generated", False) or _is_measured(field):
        return True
    # A field that makes its value when it is saved, as slugs and positions do.
    return type(field).pre_save not in STANDARD


@cache
def is_drawn(field: Any) -> bool:
    """Return whether each new row gets another default: a moment, a uuid, a code."""
    if not field.has_default() or not callable(field.default):
        return False
    if isinstance(field, models.DateTimeField | models.TimeField):
        return True
    return value_or(False, lambda: bool(field.get_default() != field.get_default()))


def is_side(model: Any) -> bool:
    """
    Return whether rows of this table are written along with others.

    Those of packages that keep a history are, and the site's WRITTEN_ALONG.
    """
    own = concrete(model)
    if meta(own).label_lower in map(str.lower, conf.get("DATA", "WRITTEN_ALONG")):
        return True
    # An app of the site may have the name of a package, and its models any field.
    packages = {base.__module__.partition(".")[0] for base in own.__mro__}
    return not HISTORY_PACKAGES.isdisjoint(packages)


def _is_measured(field: Any) -> bool:
    """Return whether an image field writes its width or height here."""
    return any(
        field.name in (getattr(other, side, None) for side in SIDES)
        for other in meta(field.model).fields
        if isinstance(other, models.ImageField)
    )
