"""The decorators with which an `assistant.py` registers its parts."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ai_assistant.registry import registry
from ai_assistant.types import (
    JSON,
    ContextProvider,
    Decision,
    Effect,
    RunContext,
    ToolDefinition,
)

Handler = TypeVar("Handler", bound=Callable[..., object])
Module = TypeVar("Module", bound=type)


def tool(  # noqa: PLR0913 - each is one word of the vocabulary
    *,
    effect: Effect,
    name: str = "",
    permission: str = "",
    label: Any = "",  # noqa: ANN401 - a text, perhaps lazily translated
    background: bool = False,
    external: bool = False,
    resumable: bool = False,
    prepare: Callable[..., object] | None = None,
    timeout_s: float | None = None,
    policy: Decision | None = None,
    icon: str = "",
    template: str = "",
    renders_only: bool = False,
    is_enabled: Callable[[RunContext], bool] | None = None,
    prompt_hint: str = "",
    shared: bool = False,
    browser: bool = False,
    timeout_browser_s: float = 60.0,
    rate: str = "",
    page_size: int = 0,
    schema: Mapping[str, Any] | None = None,
    upgrade_args: Callable[[str, dict[str, Any]], dict[str, Any]] | None = None,
    replace: bool = False,
) -> Callable[[Handler], Handler]:
    """
    Register a function, sync or async, as a tool of the model.

    Arguments and their descriptions come from the type hints and the docstring;
    an argument named `context` gets a `RunContext`. A sync tool that writes runs
    in one transaction, together with the record of its result. `prepare` takes
    the same arguments, runs before that transaction, and is the place for slow
    work; what it returns is `context.prepared`. With `browser` the page carries the
    call out, as `registerTool` says there: the function checks it first, and the
    dict that it returns, if any, takes the place of the arguments. See docs/tools.md.
    """

    def register(handler: Handler) -> Handler:
        own = name or handler.__name__
        registry.offer_tool(
            ToolDefinition(
                name=own,
                handler=handler,
                effect=effect,
                description=inspect.getdoc(handler) or "",
                label=label or own.replace("_", " ").capitalize(),
                permission=permission,
                background=background,
                external=external,
                resumable=resumable,
                prepare=prepare,
                timeout_s=timeout_s,
                policy=policy,
                origin=handler.__module__,
                icon=icon,
                template=template,
                renders_only=renders_only,
                is_enabled=is_enabled,
                prompt_hint=prompt_hint,
                shared=shared,
                browser=browser,
                timeout_browser_s=timeout_browser_s,
                rate=rate,
                page_size=page_size,
                schema=schema,
                upgrade_args=upgrade_args,
            ),
            replace=replace,
        )
        handler.assistant_tool = own  # type: ignore[attr-defined] # for modules and views
        return handler

    return register


def context(  # noqa: PLR0913 - each is one word of the vocabulary
    model: str = "",
    *,
    view: str = "",
    name: str = "",
    description: str = "",
    title: str = "",
    auto: bool = True,
    priority: int = 0,
    convert: Callable[[Any], JSON] | None = None,
) -> Callable[[Handler], Handler]:
    """
    Register a function that describes a page, by its `model` and `view`.

    `model` is `app.model`, `view` one of changelist, add, change, delete, history
    or the name of a view; without them it is asked on every page. It gets a
    RunContext and, if it has a second argument, the object of the page or None. It
    returns a JSON value, a ContextItem, a list of them, or None for nothing;
    `convert` makes a JSON value of what it returns. See docs/context.md.
    """

    def register_provider(function: Handler) -> Handler:
        own = name or function.__name__
        described = inspect.getdoc(function) or ""
        registry.add_context(
            ContextProvider(
                name=own,
                function=function,
                model=model,
                view=view,
                description=description or described.split("\n\n")[0],
                title=title,
                auto=auto,
                priority=priority,
                convert=convert,
                origin=function.__module__,
            )
        )
        return function

    return register_provider


def register(module: Module) -> Module:
    """Register a ContextModule. It is made once; nothing is kept on it."""
    registry.add_module(module())
    return module
