"""Replace tools and run the assistant within one test."""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any, Literal, cast
from uuid import UUID, uuid4

from ai_assistant.exceptions import NotRegistered
from ai_assistant.registry import registry
from ai_assistant.testing.recorded import Played, Recording
from ai_assistant.testing.scripted import (
    FunctionProvider,
    Plays,
    Reply,
    ScriptedProvider,
)
from ai_assistant.types import JSON, Provider, ToolDefinition


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
    Undo at the end whatever is registered or removed inside.

    Inside, `ai_assistant.tool`, `context` and `register` work as in an
    `assistant.py`. Works as a decorator too.
    """
    return registry.restored()


def _stand_in(name: str, function: Callable[..., Any]) -> ToolDefinition:
    tool = registry.tool(name)
    if tool is None:
        names = ", ".join(sorted(registry.tools())) or "none"
        raise NotRegistered(
            f"Tool {name!r} is not registered. Registered are: {names}."
        )
    return tool.changed(handler=_in_its_place(tool.handler, function), prepare=None)


def _in_its_place(
    original: Callable[..., Any], function: Callable[..., Any]
) -> Callable[..., Any]:
    """Return `function` with the signature of `original`; a fake needs no type hints."""
    takes_context = "context" in inspect.signature(function).parameters

    def value(*context: object, **arguments: object) -> Any:
        return function(*(context if takes_context else ()), **arguments)

    # On the event loop or off it, as the tool itself: the engine goes by that.
    @wraps(original)
    async def called_async(*context: object, **arguments: object) -> object:
        result = value(*context, **arguments)
        return await result if inspect.isawaitable(result) else result

    @wraps(original)
    def called(*context: object, **arguments: object) -> object:
        result = value(*context, **arguments)
        return asyncio.run(result) if inspect.iscoroutine(result) else result

    return called_async if inspect.iscoroutinefunction(original) else called


def run_assistant(  # noqa: PLR0913 - the sender, the page, the text, and who answers
    user: Any,
    path: str,
    text: str,
    *,
    replies: Iterable[Reply] = (),
    provider: Provider | Plays | None = None,
    context: Mapping[str, JSON] | None = None,
    conversation_id: UUID | None = None,
    raises: bool = False,
) -> Played:
    """
    Send `text` as `user` from the page at `path`; return the run as it then is.

    The real engine executes it in this thread and on this test's database until
    it has ended or waits for the person; long tools, and the agents that it asks, are
    executed on the way. `replies` are what the model says, as `ScriptedProvider` takes them; instead,
    `provider` may be any provider, or an async function that plays the model.
    `context` is what the page tells and the person has kept: `browser` items,
    `mentioned` and `dropped`. With the `conversation_id` of an earlier run it is
    the next message there. With `raises` the error of a tool that fails by a fault of
    its own is raised here too, also when an interrupt of the run is answered; else
    it is a failed call and a traceback in the log. Raise AssertionError if the page, a key of `context` or
    an item does not exist, if a context provider fails, and if the run has
    succeeded and `replies` are left over.
    """
    # Here, since a settings module may import this package before the models are.
    from ai_assistant.testing import page, stage  # noqa: PLC0415

    page.check_page_context(context or {})
    page.check_path(path)
    recording = _recording(provider, tuple(replies))
    recording.raises = raises
    return stage.play(
        user,
        recording,
        text=text,
        path=path,
        context=context,
        conversation_id=conversation_id or uuid4(),
    )


def answer_interrupt(
    played: Played,
    decision: Literal["", "approve", "deny", "skip"] = "",
    *,
    text: str = "",
    chosen: Iterable[str] = (),
    value: JSON = None,
) -> Played:
    """
    Answer the first open interrupt of a run; return the run as it then is.

    An approval takes "approve" or "deny", with `text` as the reason of a denial;
    a question takes `text` as its answer, or `chosen` where it takes several, or
    "skip". A browser tool takes the `value` that the page returns, or `text` as the
    error that it raises. Raise AssertionError if nothing waits.
    """
    from ai_assistant.testing import stage  # noqa: PLC0415 - as above

    decisions = {"decision": decision, "chosen": tuple(chosen)}
    return stage.answer_and_resume(played, text, value, **decisions)


def _recording(
    provider: Provider | Plays | None, replies: tuple[Reply, ...]
) -> Recording:
    if provider is None:
        return Recording(provider=ScriptedProvider(replies), script=len(replies))
    if replies:
        raise TypeError("run_assistant takes 'replies' or a 'provider', not both.")
    if hasattr(provider, "stream"):
        return Recording(provider=cast("Provider", provider))
    return Recording(provider=FunctionProvider(provider))
