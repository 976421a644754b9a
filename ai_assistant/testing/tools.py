"""Other tools and other parts, for the length of one test."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import wraps
from typing import Any

from ai_assistant.exceptions import NotRegistered
from ai_assistant.registry import registry
from ai_assistant.types import ToolDefinition


@contextmanager
def override_tools(**functions: Callable[..., Any]) -> Iterator[None]:
    """
    Let other functions stand in for registered tools: `override_tools(send=fake)`.

    Effect, permission, policy and schema stay those of the tool, so that all goes
    on as on the site, but for what the tool does. They get its arguments, and its
    `context` if they name one. Works as a decorator too. Raise
    NotRegistered if there is no such tool.
    """
    with registry.temporarily(*[_stand_in(*item) for item in functions.items()]):
        yield


def temporary_registration() -> AbstractContextManager[None]:
    """
    Undo at the end all that is registered and removed meanwhile.

    Inside, `ai_assistant.tool`, `context` and `register` work as in an
    `assistant.py`. Works as a decorator too.
    """
    return registry.restored()


def _stand_in(name: str, function: Callable[..., Any]) -> ToolDefinition:
    tool = registry.tool(name)
    if tool is None:
        known = ", ".join(sorted(registry.tools())) or "none"
        raise NotRegistered(
            f"Tool {name!r} is not registered. Registered are: {known}."
        )
    return replace(tool, handler=_in_its_place(tool.handler, function), prepare=None)


def _in_its_place(
    own: Callable[..., Any], function: Callable[..., Any]
) -> Callable[..., Any]:
    """Return `function` with the signature of `own`; a fake needs no type hints."""
    takes_context = "context" in inspect.signature(function).parameters

    def value(*context: object, **arguments: object) -> Any:  # noqa: ANN401
        return function(*(context if takes_context else ()), **arguments)

    # On the event loop or off it, as the tool itself: the engine goes by that.
    @wraps(own)
    async def called_async(*context: object, **arguments: object) -> object:
        found = value(*context, **arguments)
        return await found if inspect.isawaitable(found) else found

    @wraps(own)
    def called(*context: object, **arguments: object) -> object:
        found = value(*context, **arguments)
        return asyncio.run(found) if inspect.iscoroutine(found) else found

    return called_async if inspect.iscoroutinefunction(own) else called
