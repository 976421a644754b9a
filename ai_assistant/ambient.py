"""Language and URL prefix of a request, which a thread does not get by itself."""

import contextvars
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.urls import get_script_prefix, set_script_prefix
from django.utils.translation import get_language, override

P = ParamSpec("P")
T = TypeVar("T")


def as_here(work: Callable[P, T]) -> Callable[P, T]:
    """Return `work` for another thread, in the language and below the prefix of now."""
    language, prefix = get_language(), get_script_prefix()

    @wraps(work)
    def as_there(*args: P.args, **kwargs: P.kwargs) -> T:
        before = get_script_prefix()
        set_script_prefix(prefix)
        try:
            with override(language):
                return work(*args, **kwargs)
        finally:
            set_script_prefix(before)

    return as_there


def of_no_request() -> contextvars.Context:
    """Return the surroundings of work that outlives the request that began it."""
    context = contextvars.Context()
    context.run(set_script_prefix, settings.FORCE_SCRIPT_NAME or "/")
    return context
