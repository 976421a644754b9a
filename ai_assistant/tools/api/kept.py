"""What the assistant is kept from, by the fields of the models behind names and paths."""

from collections.abc import Iterable
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db.models.constants import LOOKUP_SEP

from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.sensitive import (
    HIDDEN,
    is_opened_field,
    is_opted_out,
    is_read_only,
    is_sensitive_field,
    is_sensitive_model,
)
from ai_assistant.tools.api.base import Kept
from ai_assistant.types import JSON


def with_fields(kept: Kept, fields: Iterable[tuple[str, Any]]) -> Kept:
    """Return `kept` with what is kept back of names and the fields or models of them."""
    named = list(fields)
    return Kept(
        hidden=kept.hidden.union(name for name, own in named if is_hidden(own)),
        fixed=kept.fixed.union(name for name, own in named if _is_fixed(own)),
        opened=kept.opened.union(name for name, own in named if _is_opened(own)),
    )


def model_field(model: Any, path: list[str]) -> Any:
    """
    Return the last field of a path over relations; None if it is none.

    Or what the assistant is kept from on the way: a field, or a model.
    """
    field = None
    for name in path:
        if model is None or is_sensitive_model(model):
            return model
        try:
            field = model._meta.pk if name == "pk" else model._meta.get_field(name)
        except FieldDoesNotExist:
            return None
        if is_hidden(field):
            return field
        model = field.related_model
    return field


def is_hidden(own: Any) -> bool:
    """Return whether a field or a model is not told."""
    if isinstance(own, type):
        return is_sensitive_model(own) or is_opted_out(own)
    return _is_column(own) and is_sensitive_field(own)


def _is_fixed(own: Any) -> bool:
    if isinstance(own, type):
        return is_read_only(own)
    return _is_column(own) and is_read_only(own.model, None, own.name)


def _is_column(own: Any) -> bool:
    return hasattr(own, "model") and hasattr(own, "attname")


def _is_opened(own: Any) -> bool:
    return _is_column(own) and is_opened_field(own)


# --- what is filtered, ordered and found by ---


def check_paths(name: str, paths: Iterable[str], models: list[Any], kept: Kept) -> None:
    """Raise ModelRetry if a parameter asks for what is at one of these paths."""
    if any(is_kept_path(path, models, kept) for path in paths):
        raise ModelRetry(
            f"The parameter {name[:100]!r} asks for what is kept from the "
            "assistant: leave it out."
        )


def check_found_by(name: str, models: list[Any], kept: Kept) -> None:
    """Raise ModelRetry if an address finds its row by such a field."""
    if is_kept_path(name, models, kept):
        raise ModelRetry(
            f"It finds its row by {name!r}, which is kept from the assistant."
        )


def is_kept_path(path: str, models: list[Any], kept: Kept) -> bool:
    """Return whether a path over relations ends at, or passes, what is kept back."""
    names = path.split(LOOKUP_SEP)
    if any(map(kept.has, names)):
        return True
    return any(is_hidden(_column(model, names)) for model in models)


def _column(model: Any, names: list[str]) -> Any:
    """Return the last field of a path; a lookup after it does not count."""
    field = None
    for end in range(1, len(names) + 1):
        found = model_field(model, names[:end])
        if found is None:
            break
        field = found
    return field


def words_of_value(value: Any) -> list[str]:
    """Return the names in the value of a parameter that orders."""
    items = value if isinstance(value, list) else [value]
    return [one.strip().lstrip("-") for item in items for one in str(item).split(",")]


# --- what goes in and comes out ---


def masked(value: JSON, kept: Kept) -> Any:
    """Return an answer with the values of such fields masked, at any depth."""
    if isinstance(value, dict):
        return {
            name: HIDDEN
            if item is not None and kept.has(str(name))
            else masked(item, kept)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [masked(item, kept) for item in value]
    return value


def check_body(body: JSON, kept: Kept) -> None:
    """Raise ModelRetry if a body writes such a field."""
    if isinstance(body, dict):
        for name, item in body.items():
            if kept.keeps_as_it_is(str(name)):
                raise ModelRetry(
                    f"The assistant does not write {name[:100]!r}: leave it out."
                )
            check_body(item, kept)
    elif isinstance(body, list):
        for item in body:
            check_body(item, kept)
