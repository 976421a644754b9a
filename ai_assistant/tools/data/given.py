"""What may be given to a form: what the page shows, but for files and secrets."""

from collections.abc import Iterable, Iterator
from typing import Any

from django import forms
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.sensitive import (
    SECRET_WORDS,
    WORD_BREAKS,
    is_sensitive_field,
)
from ai_assistant.tools.data.access import is_closed
from ai_assistant.tools.data.fields import is_open_field, is_own
from ai_assistant.tools.data.posting import inner

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
    return bool(SECRET_WORDS.search(WORD_BREAKS.sub("_", name))) or (
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
