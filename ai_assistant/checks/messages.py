"""Helpers with which all checks make their messages."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Error, Info, Warning
from django.utils.module_loading import import_string

Fault = tuple[str, str, str]  # id, what is wrong with what is looked at, hint

LEVELS: dict[str, Callable[..., CheckMessage]] = {
    "E": Error,
    "W": Warning,
    "I": Info,
}


def problem(check_id: str, text: str, hint: str) -> CheckMessage:
    """Return a message; the first letter of its number, as in E001, is its level."""
    level = LEVELS[check_id.partition(".")[2][0]]
    return level(text, hint=hint, id=check_id)


def imported(path: str) -> tuple[Any, str]:
    """Return what a dotted path names, and what is wrong with it: empty if nothing is."""
    try:
        return import_string(path), ""
    except Exception as error:  # noqa: BLE001 - a site's module may raise anything
        return None, f"which cannot be imported: {type(error).__name__}: {error}"


def nearest(name: str, candidates: Sequence[str], cutoff: float = 0.6) -> str:
    """Return the most similar of the known names; none if none is similar."""
    return "".join(get_close_matches(name, candidates, n=1, cutoff=cutoff))


def has_model(label: str) -> bool:
    """Return whether a model has this label, such as "shop.order"."""
    try:
        apps.get_model(label)
    except (LookupError, ValueError):
        return False
    return True
