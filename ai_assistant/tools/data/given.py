"""What may be given to a form: what the page shows, but for files and secrets."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

from django import forms
from django.core.exceptions import FieldDoesNotExist
from django.db.models import JSONField, Model

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.sensitive import (
    HIDDEN,
    is_opened_field,
    is_secret_name,
    is_sensitive_field,
    secrets_in,
)
from ai_assistant.tools.data.access import is_closed
from ai_assistant.tools.data.fields import is_open_field, is_own
from ai_assistant.tools.data.posting import given_value, inner, parsed

MOST_NAMED = 40


def check_names(form: Any, names: Iterable[str], fixed: Iterable[str] = ()) -> None:  # noqa: ANN401
    """
    Make sure that the form takes each of `names` from the assistant.

    `fixed` are fields of the form that nobody fills in. Raise ModelRetry that names
    the fields which may be given.
    """
    may = [name for name in givable(form) if name not in set(fixed)]
    wrong = sorted(set(names) - set(may))
    if not wrong:
        return
    verbose = form._meta.model._meta.verbose_name  # noqa: SLF001
    named = ", ".join(repr(name[:100]) for name in wrong[:MOST_NAMED])
    fields = ", ".join(may[:MOST_NAMED]) or "none"
    raise ModelRetry(
        f"{named} of {verbose} cannot be given: not a field of its form, read-only, "
        f"or kept from the assistant. Fields that can be given: {fields}."
    )


def givable(form: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the names of the fields of `form` that the assistant may fill in."""
    for name, field in form.fields.items():
        is_file = isinstance(inner(field.widget), forms.FileInput)
        if not (is_file or field.disabled or is_secret(form, name)):
            yield name


def laid_value(form: Any, name: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    """
    Return what is given for a field as its widget takes it.

    What stands under secret keys of JSON stays as it is: told as "•••", and given
    back so. Raise ModelRetry if it would become something else.
    """
    field = form.fields[name]
    old, new = form.get_initial_for_field(field, name), parsed(value)
    before, found = secrets_in(old), secrets_in(new)
    if not (before or found) or _is_opened(form, name):
        if new is None:
            _check_null(form, name)
        return given_value(field, value)
    new = deepcopy(new)
    for path, item in found.items():
        if item == HIDDEN and path in before:
            _set(new, path, before[path])
    if secrets_in(new) != before:
        raise ModelRetry(
            f"{name!r} has keys that are kept from the assistant, or would get some. "
            f"Give the whole value with those that are there as {HIDDEN!r}, and no "
            "others."
        )
    return given_value(field, new)


def _check_null(form: Any, name: str) -> None:  # noqa: ANN401 - a Django form
    """
    Make sure that null is given to a JSON column only where it takes one.

    A form makes NULL of it and is valid; the page would fail as it saves.
    """
    own = _field(form, name)
    if isinstance(own, JSONField) and not own.null:
        raise ModelRetry(f"{name!r} cannot be null: give an empty {{}} or [] instead.")


def _is_opened(form: Any, name: str) -> bool:  # noqa: ANN401
    own = _field(form, name)
    return own is not None and is_opened_field(own)


def _field(form: Any, name: str) -> Any:  # noqa: ANN401 - a model field or None
    try:
        return form._meta.model._meta.get_field(name)  # noqa: SLF001
    except FieldDoesNotExist:
        return None


def _set(value: Any, path: tuple[Any, ...], item: Any) -> None:  # noqa: ANN401 - JSON
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = item


def is_secret(form: Any, name: str) -> bool:  # noqa: ANN401 - a Django form
    """Tell whether the field of a form is one that no tool may write."""
    model = form._meta.model  # noqa: SLF001
    try:
        field = model._meta.get_field(name)  # noqa: SLF001
    except FieldDoesNotExist:
        field = None
    if field is not None and is_own(field):
        return not is_open_field(field)
    # A field of the form alone.
    links = getattr(form.fields[name], "queryset", None)
    return is_secret_name(name) or (
        links is not None
        and (is_closed(links.model) or _links_rights(model, links.model))
    )


def _links_rights(one: type[Model], other: type[Model]) -> bool:
    """Tell whether rows of the two are linked by a field that no tool may write."""
    sides = (one, other), (other, one)
    return any(
        is_sensitive_field(many) and _is_of(end, many.related_model)
        for start, end in sides
        for many in start._meta.many_to_many  # noqa: SLF001
    )


def _is_of(model: type[Model], table: Any) -> bool:  # noqa: ANN401 - a model class
    """Tell whether rows of the model are rows of the table, or of a child of it."""
    concrete = table._meta.concrete_model  # noqa: SLF001
    own = model._meta.concrete_model or model  # noqa: SLF001
    return issubclass(own, concrete)
