"""The Python values of columns, from the JSON of an image, and into a row."""

import base64
import decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, router
from django.db.models.expressions import Value

from ai_assistant.changes.capture.columns import unseal
from ai_assistant.changes.capture.images import Image, all_rows
from ai_assistant.changes.values import meta
from ai_assistant.safety.identity.session import CannotUnseal

AS_THEY_ARE = (models.CharField, models.TextField, models.FileField)


def python_value(field: Any, stored: Any) -> Any:
    """
    Return what a column is set to, so that it holds just what the image says.

    Raise CannotUnseal if the site's keys have changed, ValidationError or ValueError if
    the field cannot hold it any more.
    """
    value = unseal(stored)
    if isinstance(field, models.ForeignKey):
        return python_value(field.target_field, value)
    if isinstance(field, models.JSONField):
        return _json(field, value)
    if isinstance(value, dict) and len(value) == 1:
        return _marked(field, *next(iter(value.items())))
    return _plain(field, value)


def _plain(field: Any, value: Any) -> Any:
    is_text = isinstance(value, str)
    if value is None or isinstance(value, bool):
        return value
    if is_text and isinstance(field, models.DecimalField):
        return decimal.Decimal(value)
    return (
        value if is_text and isinstance(field, AS_THEY_ARE) else field.to_python(value)
    )


def is_readable(field: Any, stored: Any) -> bool:
    """Return whether the column can hold what the image says."""
    try:
        python_value(field, stored)
    except (ValidationError, ValueError, TypeError, ArithmeticError, CannotUnseal):
        return False
    return True


def _json(field: Any, value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"$json"}:
        inner = value["$json"]
        return Value(None, field) if inner is None else inner
    return value


def _marked(field: Any, mark: str, inner: Any) -> Any:
    if mark == "$base64":
        return base64.b64decode(inner)
    if mark == "$float":
        return float(inner)
    return field.to_python(inner)


def is_generated(field: Any) -> bool:
    """Return whether the database computes a column; Django saves none of these."""
    return getattr(field, "generated", False) is True


def saved_columns(model: Any) -> set[str]:
    """Return the attnames of all columns, but for those that the database computes."""
    fields = meta(model).concrete_fields
    return {field.attname for field in fields if not is_generated(field)}


def python_values(model: Any, image: Image) -> dict[str, Any]:
    """Return the values of the model's columns that the image has, by attname."""
    return {
        field.attname: python_value(field, image[field.attname])
        for field in meta(model).concrete_fields
        if field.attname in image
    }


def instance_of(model: Any, image: Image, alias: str, *, is_new: bool = False) -> Any:
    """Return an instance of the row that the image shows; `is_new`: it is not there."""
    instance = model(**python_values(model, image))
    instance._state.db, instance._state.adding = alias, is_new
    return instance


def put_in(model: Any, alias: str, pk: Any, image: Image) -> None:
    """Set all columns of one row, in one table, to what the image says."""
    local = [one for one in meta(model).local_concrete_fields if not one.primary_key]
    values = {
        one.attname: python_value(one, image[one.attname])
        for one in local
        if one.attname in image and not is_generated(one)
    }
    if values:
        all_rows(model, alias).filter(pk=pk).update(**values)


def names_database(instance: Any) -> dict[str, Any]:
    """Return what names the database of an instance; a method of the site may not."""
    alias = instance._state.db
    own = router.db_for_write(type(instance), instance=instance)
    return {} if own == alias else {"using": alias}
