"""The registered tools and their card templates: what could not be called or drawn."""

import inspect
import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template

from ai_assistant import conf
from ai_assistant.checks.messages import Fault, nearest, problem
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.registry import registry
from ai_assistant.safety.limits import RATE
from ai_assistant.safety.policy.policy import DECISIONS
from ai_assistant.tools.arguments import function_schema
from ai_assistant.tools.manifest import manifest_differences, read_manifest
from ai_assistant.types import EFFECTS, IMPORTANCES, WRITING, ToolDefinition

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PERMISSION = re.compile(r"\w+\.\w+")


def check_tools() -> Iterator[CheckMessage]:
    """Yield what is wrong with the tools, each with its place in the code."""
    for first, second in registry.clashes:
        yield problem(
            "ai_assistant.E092",
            f"{tool_place(second)} has the same name as {tool_place(first)}, which is "
            "kept.",
            "Rename one, or add replace=True to the one to use.",
        )
    for tool in registry.tools().values():
        for check_id, fault_text, hint in chain(*(check(tool) for check in CHECKS)):
            yield problem(check_id, f"{tool_place(tool)} {fault_text}", hint)


def tool_place(tool: ToolDefinition) -> str:
    """Return the tool's name and where it is defined."""
    handler = inspect.unwrap(tool.handler)
    code = getattr(handler, "__code__", None)
    line = f", line {code.co_firstlineno}" if code else ""
    return f"Tool {tool.name!r} ({tool.origin}{line})"


# --- the tool's declaration ---


def _effect(tool: ToolDefinition) -> Iterator[Fault]:
    if tool.effect not in EFFECTS:
        yield (
            "ai_assistant.E080",
            f"has the effect {tool.effect!r}.",
            "Use effect='read', 'ui', 'write' or 'destructive'.",
        )
    if tool.effect_of is not None and not _may_have_effect_of(tool):
        yield (
            "ai_assistant.E095",
            "has an 'effect_of', which says which of its calls write nothing.",
            "Give it to a tool that writes, without background, external, editor and "
            "rows_argument, or leave it out.",
        )
    if tool.external_of is not None and tool.effect_of is None:
        yield (
            "ai_assistant.E095",
            "has an 'external_of', but no 'effect_of'.",
            "Give it both, or external=True.",
        )
    if not NAME.fullmatch(tool.name):
        yield (
            "ai_assistant.E081",
            "has a name that models reject.",
            "Use letters, digits, '_' and '-', at most 64 of them.",
        )
    if not tool.description.strip():
        yield (
            "ai_assistant.W082",
            "has no docstring: the model cannot know when to use it.",
            "Say in two sentences when to use it and what it returns.",
        )


def _may_have_effect_of(tool: ToolDefinition) -> bool:
    execution, approval = tool.execution, tool.approval
    is_elsewhere = execution.background or execution.external
    is_edited = approval.editor is not None or bool(approval.rows_argument)
    return tool.effect in WRITING and not is_elsewhere and not is_edited


def _bounded(tool: ToolDefinition) -> Iterator[Fault]:
    if tool.execution.rate and RATE.fullmatch(tool.execution.rate) is None:
        yield (
            "ai_assistant.E093",
            f"has the rate {tool.execution.rate!r}.",
            "Give calls by second, minute, hour or day: rate='10/m'.",
        )
    if tool.display.page_size < 0:
        yield (
            "ai_assistant.E094",
            f"has page_size={tool.display.page_size!r}.",
            "Give the rows of a page, or leave it out.",
        )
    rounds = tool.offer.context_rounds
    if rounds is not None and rounds < 0:
        yield (
            "ai_assistant.E096",
            f"has context_rounds={rounds!r}.",
            "Give for how many messages its results are told, from 0 on, or leave it "
            "out.",
        )


def _allowed(tool: ToolDefinition) -> Iterator[Fault]:
    if tool.approval.policy not in (None, *DECISIONS):
        yield (
            "ai_assistant.E088",
            f"has the policy {tool.approval.policy!r}.",
            "Use policy='allow', 'ask' or 'deny', or leave it out.",
        )
    if tool.permission and not PERMISSION.fullmatch(tool.permission):
        yield (
            "ai_assistant.E089",
            f"requires the permission {tool.permission!r}, which nobody can have.",
            "Give it as '<app label>.<codename>', for example 'shop.change_order'.",
        )


# --- what the model sends ---


def _arguments(tool: ToolDefinition) -> Iterator[Fault]:
    try:
        function_schema(tool)
    except ImproperlyConfiguredAssistant as error:
        subject, _, hint = str(error).partition(". ")
        fault_text = subject.removeprefix(f"Tool {tool.name!r} ")
        yield ("ai_assistant.E083", f"{fault_text}.", hint)
    except Exception as error:  # noqa: BLE001 - pydantic and annotations raise anything
        first = str(error).strip().partition("\n")[0]
        yield (
            "ai_assistant.E083",
            f"has arguments without a JSON schema: {first}",
            "Use types that pydantic supports, and import them at run time.",
        )
    if not _takes_context_first(tool.handler):
        yield (
            "ai_assistant.E084",
            "has 'context', but not as its first argument.",
            "Make 'context: RunContext' the first argument.",
        )


def _takes_context_first(handler: Callable[..., Any]) -> bool:
    parameters = list(inspect.signature(handler).parameters.values())
    places = [i for i, param in enumerate(parameters) if param.name == "context"]
    if not places:
        return True
    return places == [0] and parameters[0].kind is not parameters[0].KEYWORD_ONLY


# --- how it is executed ---


def _execution(tool: ToolDefinition) -> Iterator[Fault]:
    execution = tool.execution
    if inspect.isgeneratorfunction(tool.handler) and _has_write_phase(tool):
        yield (
            "ai_assistant.E091",
            "is a generator that writes: its results so far cannot be shown while a "
            "transaction holds them back.",
            "Return one value, or add background=True and write in "
            "context.transaction().",
        )
    if execution.timeout_s is not None and execution.timeout_s <= 0:
        yield (
            "ai_assistant.E090",
            f"has timeout_s={execution.timeout_s!r}.",
            "Give more than 0 seconds, or leave it out.",
        )
    is_of_page = tool.effect == "ui" or tool.effect_of is not None
    if execution.browser and (
        not is_of_page or execution.background or execution.external
    ):
        yield (
            "ai_assistant.E097",
            "is executed by the page, but is not a plain tool with the effect 'ui'.",
            "Use effect='ui', without background and external.",
        )
    if _is_async(tool.handler):
        yield from _async(tool)
    if execution.resumable and not execution.background:
        yield (
            "ai_assistant.E087",
            "is resumable, but not in the background.",
            "Add background=True, or remove resumable.",
        )


def _async(tool: ToolDefinition) -> Iterator[Fault]:
    if tool.execution.background:
        yield (
            "ai_assistant.E086",
            "is an 'async def' in the background.",
            "Make it a 'def': it has a thread of its own, and writes there.",
        )
    elif tool.effect in WRITING and not tool.execution.external:
        yield (
            "ai_assistant.E085",
            "is an 'async def' that writes: it cannot run in a transaction.",
            "Make it a 'def', or add external=True if it writes outside the database.",
        )


def _preparation(tool: ToolDefinition) -> Iterator[Fault]:
    prepare = tool.execution.prepare
    if prepare is None:
        return
    if not _has_write_phase(tool):
        yield (
            "ai_assistant.E087",
            "has a 'prepare' that is never called.",
            "Leave it out: it is for a sync tool that writes, without background and "
            "external.",
        )
    elif inspect.iscoroutinefunction(prepare):
        yield (
            "ai_assistant.E087",
            "has a 'prepare' that is an 'async def'.",
            "Make it a 'def'; it runs in a thread.",
        )
    elif _parameter_names(prepare) != _parameter_names(tool.handler):
        yield (
            "ai_assistant.E087",
            "has a 'prepare' whose arguments differ from its own.",
            f"Give it the same: {', '.join(_parameter_names(tool.handler)) or 'none'}.",
        )


def _trial(tool: ToolDefinition) -> Iterator[Fault]:
    execution = tool.execution
    preview: Any = tool.approval.preview  # whatever the site's code has given
    if preview is None or callable(preview):
        return
    if preview != "transaction":
        yield (
            "ai_assistant.E144",
            f"has preview={preview!r}.",
            "Give a function that returns Changes, 'transaction', or leave it out.",
        )
    elif execution.external or execution.background or _is_async(tool.handler):
        yield (
            "ai_assistant.E144",
            "has preview='transaction', but not all that it does can be rolled back.",
            "Give it a preview of its own, or leave out external, background and async.",
        )


def _has_write_phase(tool: ToolDefinition) -> bool:
    is_elsewhere = tool.execution.background or tool.execution.external
    is_sync = not _is_async(tool.handler)
    return is_sync and tool.effect in WRITING and not is_elsewhere


def _is_async(handler: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(handler) or inspect.isasyncgenfunction(handler)


def _parameter_names(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


ICONS = "ai_assistant/icons.html"
DRAWN = re.compile(r'<symbol id="aia-i-([\w-]+)"')


def _icon(tool: ToolDefinition) -> Iterator[Fault]:
    icon = tool.display.icon
    icons = _icons() if icon else []
    if icons and icon not in icons:
        near = nearest(icon, icons)
        yield (
            "ai_assistant.W098",
            f"has the icon {icon!r}, which does not exist.",
            f"Use {near!r}." if near else f"Use one of: {', '.join(icons)}.",
        )


def _icons() -> list[str]:
    """Return the names of the site's icons; none if its templates cannot be loaded."""
    try:
        html = get_template(ICONS).render()
    except (TemplateDoesNotExist, TemplateSyntaxError, ImproperlyConfigured):
        return []  # E032 reports it
    return list(dict.fromkeys(DRAWN.findall(html)))


def _template(tool: ToolDefinition) -> Iterator[Fault]:
    if not tool.display.template:
        return
    try:
        get_template(tool.display.template)
    except TemplateDoesNotExist:
        fault_text = "which cannot be found"
        hint = (
            "Give a path below the 'templates' folder of an installed app, for "
            f"example 'ai_assistant/tools/{tool.name}.html'; that one need not be "
            "named."
        )
    except TemplateSyntaxError as error:
        fault_text, hint = f"which cannot be read: {error}", "Correct it."
    except ImproperlyConfigured:
        return  # E032 reports it
    else:
        return
    yield (
        "ai_assistant.E099",
        f"has the template {tool.display.template!r}, {fault_text}.",
        hint,
    )


def _importance(tool: ToolDefinition) -> Iterator[Fault]:
    if tool.display.importance not in (None, *IMPORTANCES):
        yield (
            "ai_assistant.E088",
            f"has the importance {tool.display.importance!r}.",
            "Use 'low', 'medium', 'high' or 'critical', or leave it out.",
        )


CHECKS = (
    *(_effect, _bounded, _allowed),
    *(_arguments, _execution, _preparation, _trial),
    *(_icon, _template, _importance),
)

HINT = "Run `python manage.py assistant_manifest`, review the diff and commit it."


def check_manifest() -> Iterator[CheckMessage]:
    """Yield how the tools differ from AI_ASSISTANT['TOOL_MANIFEST'], if it is set."""
    path = Path(conf.get("TOOL_MANIFEST"))
    if not path.name:
        return
    try:
        committed = read_manifest(path)
    except (OSError, ValueError) as error:
        yield problem(
            "ai_assistant.W106",
            f"AI_ASSISTANT['TOOL_MANIFEST'] is {str(path)!r}, which cannot be read: "
            f"{error}",
            "Run `python manage.py assistant_manifest` to write it.",
        )
        return
    for difference in manifest_differences(committed):
        yield problem("ai_assistant.W107", f"{difference} since {path.name!r}.", HINT)
