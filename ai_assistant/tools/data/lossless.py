"""
What a form would lose without anybody's wish.

A form writes all of its fields, and a value that went through it may come back
shorter: without its microseconds, without the blanks at its end.
"""

from collections.abc import Collection
from typing import Any

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import FileField, Model

from ai_assistant.tools.data.posting import inner


def keep_rest(form: Any, given: Collection[str], before: Model | None = None) -> None:  # noqa: ANN401 - a model form
    """
    Give fields of a valid form that nobody has `given` their values back.

    What the code of the site sets stays: only a value that is just what the form
    made of the old one is taken back. `before` is the object as it was; None: it is
    read from the form's own initial values.
    """
    kept = {name for name in form.fields if name not in given}
    kept = {name for name in kept if _keep(form, name, before)}
    form.changed_data = [name for name in form.changed_data if name not in kept]


def _keep(form: Any, name: str, before: Model | None) -> bool:  # noqa: ANN401
    """Tell whether the column still holds, perhaps again, what it did."""
    try:
        field = form._meta.model._meta.get_field(name)  # noqa: SLF001
    except FieldDoesNotExist:
        return False
    if not field.concrete or field.many_to_many or field.primary_key:
        return False
    if isinstance(field, FileField) or (before is None and name not in form.initial):
        return False
    old, new = _old(form, field, before), getattr(form.instance, field.attname)
    if old == new:
        return True
    if new != _returned(form, name):
        return False
    setattr(form.instance, field.attname, old)
    return True


def _old(form: Any, field: Any, before: Model | None) -> Any:  # noqa: ANN401
    if before is not None:
        return getattr(before, field.attname)
    return form.initial[field.name]


def _returned(form: Any, name: str) -> Any:  # noqa: ANN401
    """Return what the field makes of what was posted for it, as an attribute."""
    field = form.fields[name]
    data = inner(field.widget).value_from_datadict(
        form.data, form.files, form.add_prefix(name)
    )
    try:
        cleaned = field.clean(data)
    except ValidationError:
        return _returned
    return cleaned.pk if isinstance(cleaned, Model) else cleaned
