"""Context, tools and suggestions that a view itself registers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Never, TypeVar

from ai_assistant.types import RunContext

View = TypeVar("View", bound=Callable[..., Any])
ATTRIBUTE = "assistant_parts"
_of_views: set[str] = set()  # names of tools that belong to views


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewParts:
    """`context` are functions of a RunContext; `tools` names or tool functions."""

    context: tuple[Callable[[RunContext], Any], ...] = ()
    tools: tuple[Any, ...] = ()
    suggestions: tuple[str, ...] = ()


def assistant_view(
    *unnamed: Never,
    context: Sequence[Callable[[RunContext], Any]] = (),
    tools: Sequence[Any] = (),
    suggestions: Sequence[str] = (),
) -> Callable[[View], View]:
    """
    Add context and tools to the pages of a view.

    Both apply to pages of this view only. Tools are functions decorated with
    `ai_assistant.tool`, or their names.
    """
    if unnamed:  # also a view, if the decorator has no parentheses
        view = getattr(unnamed[0], "__name__", unnamed[0])
        raise TypeError(
            f"View {view!r} is decorated without arguments. Write "
            "@assistant_view(context=[...], tools=[...], suggestions=[...]), or one "
            "of them; all arguments are given by name."
        )
    arguments = {"context": context, "tools": tools, "suggestions": suggestions}
    for name, value in arguments.items():
        _check_is_list(value, f"The argument {name!r} of assistant_view", name)
    names = [_tool_name(tool, "An assistant_view") for tool in tools]

    def decorate(view: View) -> View:
        parts = ViewParts(
            context=tuple(context), tools=tuple(tools), suggestions=tuple(suggestions)
        )
        setattr(view, ATTRIBUTE, parts)
        _of_views.update(names)
        return view

    return decorate


class AssistantMixin:
    """
    The counterpart of `assistant_view` for class-based views and ModelAdmins.

    `assistant_context` gets a RunContext and, on a ModelAdmin, the object of the page
    as `opened`; it returns a value, a ContextItem, a list of them, or None.
    """

    assistant_tools: ClassVar[Sequence[Any]] = ()
    assistant_suggestions: ClassVar[Sequence[str]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("assistant_tools", "assistant_suggestions"):
            names = cls.__dict__.get(name, ())
            _check_is_list(names, f"{cls.__name__}.{name}", name)
        subject = f"{cls.__name__}.assistant_tools"
        tools = cls.__dict__.get("assistant_tools", ())
        _of_views.update(_tool_name(tool, subject) for tool in tools)

    def assistant_context(self, context: RunContext, opened: Any = None) -> Any:
        """Return what the page shows; nothing by default."""


def registered_parts(view: Any, model_admin: Any = None) -> ViewParts:
    """Return what `view` registers, by decorator or mixin."""
    parts = getattr(view, ATTRIBUTE, None) or ViewParts()
    holder = _holder(view, model_admin)
    if holder is None:
        return parts

    def described(context: RunContext, opened: Any = None) -> Any:
        return holder.assistant_context(context, opened)

    # Its name in chips and logs, and a unique one for code that counts its calls.
    kind = type(holder)
    described.__name__ = kind.__name__
    described.__module__, described.__qualname__ = kind.__module__, kind.__qualname__
    return ViewParts(
        context=(*parts.context, described),
        tools=(*parts.tools, *holder.assistant_tools),
        suggestions=(*parts.suggestions, *holder.assistant_suggestions),
    )


def names_of_views() -> set[str]:
    """Return the names of the tools that a view offers on its own pages only."""
    return set(_of_views)


def _check_is_list(value: Any, subject: str, name: str) -> None:
    if isinstance(value, str):
        raise TypeError(
            f"{subject} is the string {value!r}: each letter would count as one. Write "
            f"{name}=[{value!r}]."
        )
    if callable(value):
        value_name = getattr(value, "__name__", repr(value))
        raise TypeError(
            f"{subject} is {value_name!r} itself and not a list. Write {name}=[{value_name}]."
        )


def _tool_name(tool: Any, subject: str) -> str:
    if isinstance(tool, str):
        return tool
    name = getattr(tool, "assistant_tool", None)
    if name is None:
        tool_name = getattr(tool, "__name__", tool)
        raise TypeError(
            f"{subject} has the tool {tool_name!r}, which is not registered. Decorate it "
            "with ai_assistant.tool."
        )
    return str(name)


def _holder(view: Any, model_admin: Any) -> AssistantMixin | None:
    if isinstance(model_admin, AssistantMixin):
        return model_admin
    view_class = getattr(view, "view_class", None)
    if isinstance(view_class, type) and issubclass(view_class, AssistantMixin):
        return view_class()
    return None
