"""The decorators with which an `assistant.py` registers tools, context, modules, hooks."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from typing import Any, Literal, ParamSpec, TypedDict, TypeVar, Unpack, overload

from ai_assistant.registry import registry
from ai_assistant.types import (
    JSON,
    WRITING,
    ContextProvider,
    Decision,
    Editor,
    Effect,
    Importance,
    RunContext,
    ToolDefinition,
)
from ai_assistant.types.hook import Hook, Point, patterns, wrong_point

Handler = TypeVar("Handler", bound=Callable[..., object])
Module = TypeVar("Module", bound=type)
Given = ParamSpec("Given")
Made = TypeVar("Made")


class ToolOptions(TypedDict, total=False):
    """Further options of a tool; the defaults are those of ToolDefinition."""

    label_plural: Any  # a text, perhaps lazily translated
    background: bool
    external: bool
    resumable: bool
    prepare: Callable[..., object] | None
    timeout_s: float | None
    write_timeout_s: float | None
    policy: Decision | None
    configurable: bool
    importance: Importance | None
    preview: Callable[..., object] | Literal["transaction"] | None
    rows_argument: str
    editor: Editor | None
    removes: Callable[[dict[str, Any]], bool] | None
    takes_data: bool
    icon: str
    template: str
    renders_only: bool
    is_enabled: Callable[[RunContext], bool] | None
    prompt_hint: str
    context_rounds: int | None
    shared: bool
    browser: bool
    timeout_browser_s: float
    rate: str
    page_size: int
    summary: Callable[[dict[str, Any], Any], Any] | None
    schema: Mapping[str, Any] | None
    upgrade_args: Callable[[str, dict[str, Any]], dict[str, Any]] | None
    effect_of: Callable[[Mapping[str, Any]], Effect] | None
    external_of: Callable[[Mapping[str, Any]], bool] | None


def _says_what_to_write(decorator: Callable[Given, Made]) -> Callable[Given, Made]:
    """Report missing parentheses, a missing effect and misspelt arguments."""
    own = inspect.signature(decorator).parameters
    known = [*own, *ToolOptions.__annotations__]

    @wraps(decorator)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> Made:
        if args or "effect" not in kwargs:
            named = getattr(args[0], "__name__", args[0]) if args else ""
            subject = f"Tool {named!r}" if named else "A tool"
            raise TypeError(
                f"{subject} is registered without its effect, which says what it does "
                "at most. Write @ai_assistant.tool(effect='read'), or 'ui', 'write' or "
                "'destructive'; all arguments are given by name."
            )
        for name in kwargs:
            if name not in known:
                near = get_close_matches(name, known, n=1) or ["one of docs/tools.md"]
                raise TypeError(
                    f"@ai_assistant.tool has no argument {name!r}. Use {near[0]}."
                )
        return decorator(*args, **kwargs)

    return called


@_says_what_to_write
def tool(
    *,
    effect: Effect,
    name: str = "",
    permission: str = "",
    label: Any = "",
    replace: bool = False,
    **options: Unpack[ToolOptions],
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

    def register_tool(handler: Handler) -> Handler:
        own = name or handler.__name__
        definition = ToolDefinition.of(
            name=own,
            handler=handler,
            effect=effect,
            description=inspect.getdoc(handler) or "",
            label=label or own.replace("_", " ").capitalize(),
            permission=permission,
            origin=handler.__module__,
            **options,
        )
        registry.offer_tool(definition, replace=replace)
        handler.assistant_tool = own  # type: ignore[attr-defined] # for modules and views
        return handler

    return register_tool


@overload
def context(model: Handler, /) -> Handler: ...
@overload
def context(
    model: str = "",
    *,
    view: str = "",
    name: str = "",
    description: str = "",
    title: str = "",
    auto: bool = True,
    priority: int = 0,
    convert: Callable[[Any], JSON] | None = None,
    context_rounds: int | None = None,
) -> Callable[[Handler], Handler]: ...
def context(  # noqa: PLR0913 - each is one word of the vocabulary
    model: Any = "",
    *,
    view: str = "",
    name: str = "",
    description: str = "",
    title: str = "",
    auto: bool = True,
    priority: int = 0,
    convert: Callable[[Any], JSON] | None = None,
    context_rounds: int | None = None,
) -> Any:
    """
    Register a function that describes a page, by its `model` and `view`.

    `model` is `app.model`, `view` one of changelist, add, change, delete, history
    or the name of a view; without them it is asked on every page. It gets a
    RunContext and, if it has a second argument, the object of the page or None. It
    returns a JSON value, a ContextItem, a list of them, or None for nothing;
    `convert` makes a JSON value of what it returns; `context_rounds` is for how many
    messages in a row it is told. Without parentheses it is asked on every page. See docs/context.md.
    """
    if inspect.isfunction(model):
        return context()(model)
    if not isinstance(model, str):
        own = getattr(model, "_meta", None)
        raise TypeError(
            f"@ai_assistant.context got {model!r}. Write the model as a string: "
            f"@ai_assistant.context({own.label_lower if own else 'app.model'!r})."
        )

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
                context_rounds=context_rounds,
                origin=function.__module__,
            )
        )
        return function

    return register_provider


View = TypeVar("View", bound=Callable[..., object])


def api_operation(
    *, effect: Literal["read", "write", "destructive"], external: bool = False
) -> Callable[[View], View]:
    """
    Say what an operation of the site's API does, for `call_api`.

    It goes on the action of a viewset, on the method of an APIView, on the view
    itself, or above `@api_view`. Without it GET reads, POST, PUT and PATCH write, and
    DELETE is destructive. `external`: its effect is not in the database alone, so that
    it is not tried out before a person is asked. See docs/api-operations.md.
    """
    if effect not in ("read", *WRITING):
        raise ValueError(
            f"@ai_assistant.api_operation got effect={effect!r}. Use 'read', 'write' "
            "or 'destructive'."
        )

    def mark(view: View) -> View:
        view.assistant_effect = effect  # type: ignore[attr-defined] # for tools.api
        view.assistant_external = external  # type: ignore[attr-defined]
        return view

    return mark


class HookOptions(TypedDict, total=False):
    """Further options of a hook; the defaults are those of Hook."""

    tools: str | Sequence[str]
    module: str | Sequence[str]
    agent: str | Sequence[str]
    order: int
    timeout_s: float
    guard: bool


def hook(
    point: Point, *, name: str = "", **options: Unpack[HookOptions]
) -> Callable[[Handler], Handler]:
    """
    Register a function, sync or async, that is called at a point of each run.

    It gets a RunContext and what the point hands over, and returns None or what the
    point takes. `tools`, `module` and `agent` are patterns, or lists of them, of names
    of tools, ids of modules and names of agents. Those of a low `order` go first. A hook
    that raises, or takes longer than `timeout_s`, ends nothing, unless it is a `guard`:
    then it refuses. See docs/hooks.md.
    """
    given: dict[str, Any] = dict(options)
    tools, modules, agents = (
        patterns(given.pop(option, "")) for option in ("tools", "module", "agent")
    )
    if problem := wrong_point(point, tools, guard=given.get("guard", False)):
        raise ValueError(f"@ai_assistant.hook({point!r}): {problem}")

    def register_hook(function: Handler) -> Handler:
        registry.add_hook(
            Hook(
                name=name or function.__name__,
                point=point,
                function=function,
                tools=tools,
                modules=modules,
                agents=agents,
                origin=function.__module__,
                **given,
            )
        )
        return function

    return register_hook


@overload
def register(module: Module, /) -> Module: ...
@overload
def register() -> Callable[[Module], Module]: ...


def register(module: Any = None, /) -> Any:
    """
    Register a ContextModule. It is made once; nothing is kept on it.

    Works with empty parentheses too.
    """
    if module is None:
        return register
    if not (isinstance(module, type) and hasattr(module, "matches")):
        raise TypeError(
            f"@ai_assistant.register got {module!r}, which is not a ContextModule. "
            "Decorate a subclass of it; functions take @ai_assistant.tool or "
            "@ai_assistant.context."
        )
    registry.add_module(module())
    return module
