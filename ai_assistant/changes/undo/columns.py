"""The Python values of columns, from the JSON of an image, and into a row."""

import base64
import decimal
import secrets
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, router
from django.db.models.expressions import Value

from ai_assistant.changes.capture.columns import unseal
from ai_assistant.changes.capture.images import (
    Image,
    all_rows,
    row_images,
    same_value,
)
from ai_assistant.changes.values import columns, meta
from ai_assistant.safety.identity.session import CannotUnseal

INTS = (models.IntegerField, models.ForeignKey, models.AutoField)
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


def differing(
    model: Any, alias: str, images: Mapping[Any, Image]
) -> Iterator[tuple[Any, Image]]:
    """
    Yield what the rows of one table have not as these images say, with their keys.

    `images` are by key. All rows are read at once; one that is not there is left out.
    """
    local = [one for one in columns(model) if not one.primary_key]
    names = [one.attname for one in local if not is_generated(one)]
    for key, now in row_images(model, images, alias, fields=columns(model)):
        image = images[key]
        found = {
            name: image[name]
            for name in names
            if name in image and not same_value(now[name], image[name])
        }
        if found:
            yield key, found


def put_in(model: Any, alias: str, pk: Any, image: Image) -> None:
    """Set the columns of one row, in one table, that the image has to what it says."""
    values = python_values(model, image)
    all_rows(model, alias).filter(pk=pk).update(**values)


def park(model: Any, alias: str, names: tuple[str, ...], pk: Any) -> None:
    """Give a row another value in one of these columns, which are unique together."""
    fields = [meta(model).get_field(name) for name in names]
    field = min(fields, key=lambda one: (not one.null, one.is_relation))
    all_rows(model, alias).filter(pk=pk).update(**{field.attname: _parked(field)})


def _parked(field: Any) -> Any:
    """Return a value that no row has; it is replaced before the undo ends."""
    if field.null:
        return None
    target = field.target_field if field.is_relation else field
    if isinstance(target, models.UUIDField):
        return uuid.uuid4()
    if isinstance(target, INTS):
        return secrets.randbelow(2**15) + 2**15 - 2**15 * 2
    return secrets.token_hex(16)[: getattr(target, "max_length", None) or 32]


def names_database(instance: Any) -> dict[str, Any]:
    """Return what names the database of an instance; a method of the site may not."""
    alias = instance._state.db
    own = router.db_for_write(type(instance), instance=instance)
    return {} if own == alias else {"using": alias}
