"""Turn errors about a wrong value into sentences for the model and the person."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import (
    NON_FIELD_ERRORS,
    FieldDoesNotExist,
    FieldError,
    ValidationError,
)
from django.db import DataError, NotSupportedError, OperationalError
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.exceptions import ModelRetry, NotValid

# SQLite has no DataError: it words its OperationalError so for values and patterns.
VALUE_TOO_LARGE = ("overflow", "too complex", "too large", "too big", "too deep")


@contextmanager
def wrong_values() -> Iterator[None]:
    """
    Turn errors about the model's values into ModelRetry.

    For code that builds and runs a query with them: a field, a backend or the
    site's own search may refuse a value in many ways.
    """
    try:
        yield
    except ValidationError as error:
        raise ModelRetry(f"A value is wrong: {' '.join(error.messages)}") from error
    except OperationalError as error:
        if not any(words in str(error) for words in VALUE_TOO_LARGE):
            raise
        raise ModelRetry("A value is too large for the database.") from error
    except (
        ValueError,
        TypeError,
        ArithmeticError,
        FieldError,
        DataError,
        NotSupportedError,
    ) as error:
        raise ModelRetry(
            f"A value or a name does not fit here ({type(error).__name__})."
        ) from error


@contextmanager
def site_validation(model: Any) -> Iterator[None]:
    """Turn what code of the site finds wrong with an object of `model` into NotValid."""
    try:
        yield
    except ValidationError as error:
        told = _joined(error, str)
        said = _joined(error, lambda name: _label(model, name))
        sentence = _("It cannot be saved. %(errors)s") % {"errors": said}
        raise NotValid(f"It cannot be saved: {told}", sentence=sentence) from error


def _joined(error: ValidationError, named: Callable[[str], str]) -> str:
    """Return the messages, each behind the name of its field if it has one."""
    if not hasattr(error, "error_dict"):
        return " ".join(error.messages)
    return " ".join(
        " ".join(texts)
        if name == NON_FIELD_ERRORS
        else f"{named(name)}: {' '.join(texts)}"
        for name, texts in error.message_dict.items()
    )


def _label(model: Any, name: str) -> str:
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return name
    return str(capfirst(getattr(field, "verbose_name", name)))
