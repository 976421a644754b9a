"""
Call foreign code: of the site, of a storage, of a library.

It may raise anything. Where there is a default, its error must not become an error of
the assistant.
"""

import logging
from collections.abc import Callable
from typing import TypeVar

logger = logging.getLogger("ai_assistant")

Found = TypeVar("Found")


def value_or(
    otherwise: Found, ask: Callable[[], Found], failed: str = "", *values: object
) -> Found:
    """
    Return what `ask` returns; `otherwise` if it raises any Exception.

    `failed` is then a line of the log, with its `values`; without it there is none.
    """
    try:
        return ask()
    except Exception:
        if failed:
            logger.exception(failed, *values)
        return otherwise
