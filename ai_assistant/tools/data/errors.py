"""Turn errors about a wrong value into a sentence for the model."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import FieldError, ValidationError
from django.db import DataError, NotSupportedError, OperationalError

from ai_assistant.exceptions import ModelRetry

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
