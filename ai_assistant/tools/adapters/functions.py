"""A plain function as a tool, without a decorator on it."""

import inspect
from collections.abc import Callable
from typing import Any

from ai_assistant.types import Effect, ToolDefinition


def from_function(
    function: Callable[..., Any],
    *,
    effect: Effect,
    name: str = "",
    label: str = "",
    description: str = "",
    **fields: Any,  # noqa: ANN401 - of ToolDefinition
) -> ToolDefinition:
    """
    Return a function of any library as a tool, to be registered.

    Arguments are described by its type hints, unless `schema` is given. `fields`
    are those of `ai_assistant.tool`.
    """
    own = name or function.__name__
    return ToolDefinition(
        name=own,
        handler=function,
        effect=effect,
        description=description or inspect.getdoc(function) or "",
        label=label or own.replace("_", " ").capitalize(),
        origin=fields.pop("origin", "") or function.__module__,
        **fields,
    )
