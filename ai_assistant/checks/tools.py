"""The registered tools and their card templates: what could not be called or drawn."""

import inspect
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from django.core.checks import CheckMessage, Error, Warning
from django.core.exceptions import ImproperlyConfigured
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.registry import registry
from ai_assistant.safety.limits import RATE
from ai_assistant.safety.policy.policy import DECISIONS
from ai_assistant.tools.arguments import function_schema
from ai_assistant.tools.manifest import manifest_differences, read_manifest
from ai_assistant.types import EFFECTS, IMPORTANCES, WRITING, ToolDefinition

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PERMISSION = re.compile(r"\w+\.\w+")


def check_tools() -> list[CheckMessage]:
    """Return what is wrong with the tools, each with its place in the code."""
    found = [
        message
        for tool in registry.tools().values()
        for check in (_said, _arguments, _execution, _preparation, _trial)
        for message in check(tool)
    ]
    return [*_clashes(), *found]


def _clashes() -> Iterator[CheckMessage]:
    for first, second in registry.clashes:
        yield _error(
            second,
            f"has the name of {tool_place(first)}, which stays.",
            "Rename one, or add replace=True to the one that is meant.",
            "ai_assistant.E092",
        )


def tool_place(tool: ToolDefinition) -> str:
    """Return the tool's name and where it is written."""
    handler = inspect.unwrap(tool.handler)
    code = getattr(handler, "__code__", None)
    line = f", line {code.co_firstlineno}" if code else ""
    return f"Tool {tool.name!r} ({tool.origin}{line})"


def _error(tool: ToolDefinition, wrong: str, hint: str, check_id: str) -> Error:
    return Error(f"{tool_place(tool)} {wrong}", hint=hint, id=check_id)


# --- what is said about the tool ---


def _said(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if tool.effect not in EFFECTS:
        yield _error(
            tool,
            f"has the effect {tool.effect!r}.",
            "Use effect='read', 'ui', 'write' or 'destructive'.",
            "ai_assistant.E080",
        )
    if not NAME.fullmatch(tool.name):
        yield _error(
            tool,
            "has a name that models refuse.",
            "Use letters, digits, '_' and '-', at most 64 of them.",
            "ai_assistant.E081",
        )
    if not tool.description.strip():
        yield Warning(
            f"{tool_place(tool)} has no docstring: the model cannot know when to use it.",
            hint="Say in two sentences when to use it and what it returns.",
            id="ai_assistant.W082",
        )
    yield from _allowed(tool)
    yield from _bounded(tool)


def _bounded(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if tool.execution.rate and RATE.fullmatch(tool.execution.rate) is None:
        yield _error(
            tool,
            f"has the rate {tool.execution.rate!r}.",
            "Give calls by second, minute, hour or day: rate='10/m'.",
            "ai_assistant.E093",
        )
    if tool.display.page_size < 0:
        yield _error(
            tool,
            f"has page_size={tool.display.page_size!r}.",
            "Give the rows of a page, or leave it out.",
            "ai_assistant.E094",
        )


def _allowed(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if tool.approval.policy is not None and tool.approval.policy not in DECISIONS:
        yield _error(
            tool,
            f"has the policy {tool.approval.policy!r}.",
            "Use policy='allow', 'ask' or 'deny', or leave it out.",
            "ai_assistant.E088",
        )
    if tool.permission and not PERMISSION.fullmatch(tool.permission):
        yield _error(
            tool,
            f"asks for the permission {tool.permission!r}, which nobody can have.",
            "Give it as '<app label>.<codename>', for example 'shop.change_order'.",
            "ai_assistant.E089",
        )


# --- what the model sends ---


def _arguments(tool: ToolDefinition) -> Iterator[CheckMessage]:
    try:
        function_schema(tool)
    except ImproperlyConfiguredAssistant as error:
        what, _, hint = str(error).partition(". ")
        wrong = what.removeprefix(f"Tool {tool.name!r} ")
        yield _error(tool, f"{wrong}.", hint, "ai_assistant.E083")
    except Exception as error:  # noqa: BLE001 - pydantic and annotations raise anything
        first = str(error).strip().partition("\n")[0]
        yield _error(
            tool,
            f"has arguments without a JSON form: {first}",
            "Use types that pydantic can describe, and import them at run time.",
            "ai_assistant.E083",
        )
    if not _takes_context_first(tool.handler):
        yield _error(
            tool,
            "has 'context' in another place than the first.",
            "Make 'context: RunContext' the first argument.",
            "ai_assistant.E084",
        )


def _takes_context_first(handler: Callable[..., Any]) -> bool:
    parameters = list(inspect.signature(handler).parameters.values())
    places = [i for i, one in enumerate(parameters) if one.name == "context"]
    if not places:
        return True
    return places == [0] and parameters[0].kind is not parameters[0].KEYWORD_ONLY


# --- how it is carried out ---


def _execution(tool: ToolDefinition) -> Iterator[CheckMessage]:
    handler = tool.handler
    if inspect.isgeneratorfunction(handler) and _has_write_phase(tool):
        yield _error(
            tool,
            "is a generator that writes: its results so far cannot be shown while a "
            "transaction holds them back.",
            "Return one value, or add background=True and write in "
            "context.transaction().",
            "ai_assistant.E091",
        )
    if tool.execution.timeout_s is not None and tool.execution.timeout_s <= 0:
        yield _error(
            tool,
            f"has timeout_s={tool.execution.timeout_s!r}.",
            "Give more than 0 seconds, or leave it out.",
            "ai_assistant.E090",
        )
    if tool.execution.browser and (
        tool.effect != "ui" or tool.execution.background or tool.execution.external
    ):
        yield _error(
            tool,
            "is carried out by the page, but is not a plain tool of effect 'ui'.",
            "Use effect='ui', without background and external.",
            "ai_assistant.E097",
        )
    if _is_async(handler):
        yield from _async(tool)
    if tool.execution.resumable and not tool.execution.background:
        yield _error(
            tool,
            "is resumable, but not in the background.",
            "Add background=True, or leave resumable out.",
            "ai_assistant.E087",
        )


def _async(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if tool.execution.background:
        yield _error(
            tool,
            "is an 'async def' in the background.",
            "Make it a 'def': it has a thread of its own, and writes there.",
            "ai_assistant.E086",
        )
    elif tool.effect in WRITING and not tool.execution.external:
        yield _error(
            tool,
            "is an 'async def' that writes: no transaction can hold it.",
            "Make it a 'def', or add external=True if it writes outside the database.",
            "ai_assistant.E085",
        )


def _preparation(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if tool.execution.prepare is None:
        return
    if not _has_write_phase(tool):
        yield _error(
            tool,
            "has a 'prepare' that is never called.",
            "Leave it out: it is for a sync tool that writes, without background and "
            "external.",
            "ai_assistant.E087",
        )
    elif inspect.iscoroutinefunction(tool.execution.prepare):
        yield _error(
            tool,
            "has a 'prepare' that is an 'async def'.",
            "Make it a 'def'; it runs in a thread.",
            "ai_assistant.E087",
        )
    elif _names(tool.execution.prepare) != _names(tool.handler):
        yield _error(
            tool,
            "has a 'prepare' with other arguments than its own.",
            f"Give it the same: {', '.join(_names(tool.handler)) or 'none'}.",
            "ai_assistant.E087",
        )


def _trial(tool: ToolDefinition) -> Iterator[CheckMessage]:
    said: Any = tool.approval.preview  # whatever the site's code has given
    if said is None or callable(said):
        return
    if said != "transaction":
        yield _error(
            tool,
            f"has preview={said!r}.",
            "Give a function that returns Changes, 'transaction', or leave it out.",
            "ai_assistant.E144",
        )
    elif (
        tool.execution.external or tool.execution.background or _is_async(tool.handler)
    ):
        yield _error(
            tool,
            "has preview='transaction', but not all that it does can be taken back.",
            "Give it a preview of its own, or leave out external, background and async.",
            "ai_assistant.E144",
        )


def _has_write_phase(tool: ToolDefinition) -> bool:
    is_sync = not _is_async(tool.handler)
    return (
        is_sync
        and tool.effect in WRITING
        and not tool.execution.background
        and not tool.execution.external
    )


def _is_async(handler: Callable[..., Any]) -> bool:
    kinds = (inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return any(is_kind(handler) for is_kind in kinds)


def _names(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


ICONS = "ai_assistant/icons.html"
DRAWN = re.compile(r'<symbol id="aia-i-([\w-]+)"')


def check_cards() -> list[CheckMessage]:
    """Return what the cards of the tools cannot be drawn with."""
    return [
        message
        for tool in registry.tools().values()
        for check in (_icon, _template, _importance)
        for message in check(tool)
    ]


def _icon(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if not tool.display.icon:
        return
    known = _icons()
    if known and tool.display.icon not in known:
        near = get_close_matches(tool.display.icon, known, n=1)
        yield Warning(
            f"{tool_place(tool)} has the icon {tool.display.icon!r}, which does not exist.",
            hint=f"Use {near[0]!r}." if near else f"Use one of: {', '.join(known)}.",
            id="ai_assistant.W098",
        )


def _icons() -> list[str]:
    """Return the names of the site's icons; none if its templates cannot be loaded."""
    try:
        html = get_template(ICONS).render()
    except (TemplateDoesNotExist, TemplateSyntaxError, ImproperlyConfigured):
        return []  # E032 tells
    return list(dict.fromkeys(DRAWN.findall(html)))


def _template(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if not tool.display.template:
        return
    try:
        get_template(tool.display.template)
    except TemplateDoesNotExist:
        wrong = "which cannot be found"
        hint = (
            "Give a path below the 'templates' folder of an installed app, for example "
            f"'ai_assistant/tools/{tool.name}.html'; that one needs not be named."
        )
    except TemplateSyntaxError as error:
        wrong, hint = f"which cannot be read: {error}", "Correct it."
    except ImproperlyConfigured:
        return  # E032 tells
    else:
        return
    yield Error(
        f"{tool_place(tool)} has the template {tool.display.template!r}, {wrong}.",
        hint=hint,
        id="ai_assistant.E099",
    )


def _importance(tool: ToolDefinition) -> Iterator[CheckMessage]:
    if (
        tool.display.importance is not None
        and tool.display.importance not in IMPORTANCES
    ):
        yield Error(
            f"{tool_place(tool)} has the importance {tool.display.importance!r}.",
            hint="Use 'low', 'medium', 'high' or 'critical', or leave it out.",
            id="ai_assistant.E088",
        )


HINT = "Run `python manage.py assistant_manifest`, review its difference and commit it."


def check_manifest() -> list[CheckMessage]:
    """Return how the tools differ from AI_ASSISTANT['TOOL_MANIFEST'], if it is set."""
    name = str(conf.get("TOOL_MANIFEST"))
    return list(_compare(Path(name))) if name else []


def _compare(path: Path) -> Iterator[CheckMessage]:
    try:
        committed = read_manifest(path)
    except (OSError, ValueError) as error:
        yield Warning(
            f"AI_ASSISTANT['TOOL_MANIFEST'] is {str(path)!r}, which cannot be read: "
            f"{error}",
            hint="Run `python manage.py assistant_manifest` to write it.",
            id="ai_assistant.W106",
        )
        return
    for told in manifest_differences(committed):
        yield Warning(f"{told} since {path.name!r}.", hint=HINT, id="ai_assistant.W107")
