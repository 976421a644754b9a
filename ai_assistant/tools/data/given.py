"""What may be given to a form: what the page shows, but for files and secrets."""

from collections.abc import Iterable, Iterator
from typing import Any

from django import forms
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.sensitive import SECRET_WORDS, WORD_BREAKS
from ai_assistant.tools.data.fields import is_open_field
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
    model = form._meta.model  # noqa: SLF001
    for name, field in form.fields.items():
        is_file = isinstance(inner(field.widget), forms.FileInput)
        if not (is_file or field.disabled or is_secret(model, name)):
            yield name


def is_secret(model: type[Model], name: str) -> bool:
    """Tell whether the field of a form is one that no tool may write."""
    try:
        field = model._meta.get_field(name)  # noqa: SLF001
    except FieldDoesNotExist:  # a field of the form alone
        return bool(SECRET_WORDS.search(WORD_BREAKS.sub("_", name)))
    return not is_open_field(field)
