"""The tools that a run may call, and those of them that the model is offered."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ai_assistant import conf, decorators
from ai_assistant.configuration.skill_tool import get_skill
from ai_assistant.context.viewparts import names_of_views
from ai_assistant.engine.lifecycle.mentions import TOOL, mentioned_names
from ai_assistant.engine.lifecycle.scope import RunScope, kept_of
from ai_assistant.engine.storage.lease import pass_by_state
from ai_assistant.engine.storage.units import unit
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.run import Channel, Run
from ai_assistant.modules.base import tool_name
from ai_assistant.modules.read_only import ReadOnly
from ai_assistant.modules.resolve import registered_modules
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import may_call
from ai_assistant.safety.policy.policy import denies_any, is_denied
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.api.catalogue import OF_API
from ai_assistant.tools.arguments import schema_error
from ai_assistant.tools.data.access.sites import why_missing
from ai_assistant.tools.find import FIND_TOOLS, find_matching_tools
from ai_assistant.tools.followups import suggest_followups
from ai_assistant.tools.model_schema import model_schema, schema_chars
from ai_assistant.tools.page.browser_tools import ORIGIN, client_tools
from ai_assistant.tools.page.fill_form import FILL_FORM, has_form
from ai_assistant.tools.page.page_action import PAGE_ACTION
from ai_assistant.tools.page.page_state import GET_PAGE_STATE
from ai_assistant.tools.result import READ_RESULT
from ai_assistant.tools.summary import found
from ai_assistant.types import WRITING, Agent, RunContext, ToolDefinition, ToolResult

# Where a site wants it, no search would find it in time.
FOLLOWUPS = suggest_followups.__name__
# What a skill or an agent with tools of its own does not take away.
BESIDE_SKILLS = frozenset(
    {"get_skill", "ask_user", "find_tools", "update_plan", FOLLOWUPS, READ_RESULT}
)
MOST_NAMES = 30  # of tools, in a sentence to the model
OWN_PACKAGE = "ai_assistant."
# What is built in and never left to be found: with these the others can be done without.
ALWAYS_TOLD = frozenset(
    {FIND_TOOLS, "ask_user", "ask_agent", "get_skill", "update_plan"}
    | {"search_objects", "get_object", "change_object"}
)
# Of the schemas of built-in tools; half of what there is, if more.
BUILT_IN_CHARS = 8_000
# Of the built-in tools the last to be told.
SELDOM = frozenset(
    {
        "undo_changes",
        FILL_FORM,  # but where there is a form
        GET_PAGE_STATE,
        PAGE_ACTION,
        "save_memory",
        "highlight",
        "show_tour",
        "object_history",
        "run_admin_action",
        "find_related",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """The tools offered with one request: names that may be called, versions."""

    names: frozenset[str] = frozenset()
    versions: Mapping[str, str] = field(default_factory=dict)
    read_only: ReadOnly | None = None
    agent: Agent | None = None


def tools_of(scope: RunScope) -> list[ToolDefinition]:
    """
    Return the tools that a run may call now, the page's own first.

    A tool that a module or a view names belongs to its pages; all others, and
    those marked `shared`, are there on every page. Left out is what the user may
    not call, the site denies, the agent does without, `is_enabled` refuses, or a
    read-only page forbids.
    """
    own = _own_names(scope)
    belongs = _belonging(scope, own)
    everywhere = [
        tool
        for tool in registry.tools().values()
        if tool.name not in own and belongs(tool)
    ]
    known = [registry.tool(name) for name in own]
    every = [*known, *everywhere, *client_tools(scope.run.context)]
    may, denies = _allowed_by_skill(scope), denies_any()
    return [
        tool
        for tool in every
        if tool is not None
        and may(tool)
        and _is_left(tool, scope)
        and is_open(tool, scope, denies=denies)
        # Where no result was cut there is no rest to be read.
        and (tool.name != READ_RESULT or READ_RESULT in scope.loaded_tools)
    ]


def _allowed_by_skill(scope: RunScope) -> Callable[[ToolDefinition], bool]:
    """Return whether the skill that was read last leaves a tool: it may narrow them."""
    skills = scope.setup.skills
    if not any(skill.allowed_tools for skill in skills.values()):
        return lambda _tool: True
    name = last_skill(scope.run) or next(iter(scope.module.skills[-1:]), "")
    if name not in skills or not skills[name].allowed_tools:
        return lambda _tool: True
    also = (*skills[name].allowed_tools, *BESIDE_SKILLS)
    return lambda tool: any(fnmatchcase(tool.name, pattern) for pattern in also)


def last_skill(run: Run) -> str:
    """Return the name of the skill that the run has read last, if it has read one."""
    calls = ToolCall.objects.filter(
        run=run, name=get_skill.__name__, status=CallStatus.COMPLETE
    )
    newest = calls.order_by("-step__index", "-position")
    arguments = newest.values_list("arguments", flat=True)
    names = (one.get("name") for one in arguments if not one.get("path"))
    return str(next(names, ""))


def _is_left(tool: ToolDefinition, scope: RunScope) -> bool:
    """
    Return whether the run's agent and the row of its module leave a tool.

    One that another agent has asked has no page that would carry something out, and
    nobody who would press what it suggests.
    """
    is_of_page = tool.execution.browser or tool.name == FOLLOWUPS
    if scope.run.root_id is not None and is_of_page:
        return False
    agent, row = scope.agent, scope.module.configured
    is_chosen = not row.tools or tool.name in row.tools
    if row.api_operations and tool.name in OF_API:
        is_chosen = True  # chosen with its operations
    is_left = is_chosen and (agent is None or agent.may_use(tool.name))
    return is_left or tool.name in BESIDE_SKILLS


def is_here(tool: ToolDefinition, scope: RunScope) -> bool:
    """Return whether `tool` belongs to the page of the run, and is open there now."""
    belongs = _belonging(scope, _own_names(scope))
    return belongs(tool) and _is_left(tool, scope) and is_open(tool, scope)


def not_here(
    name: str,
    *,
    writes: bool,
    read_only: ReadOnly | None,
    names: Collection[str] = (),
    agent: Agent | None = None,
) -> ToolResult:
    """
    Return the result of calling a tool that is unavailable on this page.

    `names` are the tools that are available.
    """
    if agent is not None and not agent.may_use(name):
        values = {"name": name, "agent": str(agent)}
        error = _("The agent “%(agent)s” does without “%(name)s”.") % values
        summary = _("The agent “%(agent)s” does without this.") % values
    elif writes and read_only is not None:
        error, summary = read_only.refusal, read_only.banner
    else:
        error = _("“%(name)s” is not available on this page now.") % {"name": name}
        summary = _("This is not available on this page now.")
    return ToolResult(
        ok=False,
        error=error,
        error_type="not_here",
        suggestion=use_one_of(names),
        summary=summary,
    )


def use_one_of(names: Collection[str]) -> str:
    """Return the sentence that says which tools are there."""
    if not names:
        return _("Use one of the tools that were offered.")
    shown = sorted(names)[:MOST_NAMES]
    more = ", …" if len(names) > MOST_NAMES else ""
    return _("Tools of this page: %(names)s.") % {"names": ", ".join(shown) + more}


def _belonging(
    scope: RunScope, own: Collection[str]
) -> Callable[[ToolDefinition], bool]:
    hidden = set(scope.module.overrides)
    elsewhere = _names_of_modules() - {*own}

    def belongs(tool: ToolDefinition) -> bool:
        if tool.name in own:
            return True
        is_free = tool.offer.shared or tool.name not in elsewhere
        return is_free and tool.name not in hidden

    return belongs


def is_open(
    tool: ToolDefinition, scope: RunScope, *, denies: bool | None = None
) -> bool:
    """Return whether the run may call `tool` at all, now; `denies` as of `is_denied`."""
    if tool.display.renders_only or schema_error(tool) or _wants_page(tool, scope.run):
        return False
    if not may_call(scope.user, tool):
        return False
    module = scope.run.module
    if is_denied(tool, user=scope.user, module=module, denies=denies):
        return False
    is_writing = tool.effect in WRITING and not tool.is_by_arguments
    if is_writing and not _may_write(tool, scope):
        return False
    return tool.offer.is_enabled is None or _is_enabled(
        tool, tool.offer.is_enabled, scope
    )


def _may_write(tool: ToolDefinition, scope: RunScope) -> bool:
    """
    Return whether a tool that writes is open under the read-only rule of the page.

    Tools of the page work on its object, and of some it is seen too late: they are
    closed. So are, without the permission for the table, those that ask for none.
    """
    locked = scope.read_only
    if locked is None:
        return True
    execution = tool.execution
    if locked.is_of_all or execution.external or execution.background:
        return False
    if not (locked.object_id or tool.permission or is_built_in(tool)):
        return False
    return tool.name not in _own_names(scope)


def _wants_page(tool: ToolDefinition, run: Run) -> bool:
    """Return whether a page has to execute the tool, and the run has none."""
    return (
        tool.execution.browser
        and tool.origin != ORIGIN
        and run.channel != Channel.PANEL
    )


def _is_enabled(
    tool: ToolDefinition, says: Callable[[RunContext], bool], scope: RunScope
) -> bool:
    """Ask what the tool says; once for all tools that have the same function."""
    if says not in scope.said:
        scope.said[says] = value_or(
            False,
            lambda: bool(says(scope.context)),
            "is_enabled of tool %r failed",
            tool.name,
        )
    return scope.said[says]


def told_tools(
    scope: RunScope, tools: list[ToolDefinition] | None = None
) -> list[ToolDefinition]:
    """
    Return those of `tools_of` the run that the model is offered in the next step.

    All of them if their schemas are small, without FIND_TOOLS; else the page's own, the site's shared
    ones, what `find_tools` has loaded, ALWAYS_TOLD and OF_API. Then as many of the site's
    others as there is room for, then of those that are built in, for which there is
    less room. The rest is found.
    """
    tools = tools_of(scope) if tools is None else tools
    most = int(conf.get("LIMITS", "TOOL_SCHEMA_CHARS"))
    # They are there where the site has opted operations in, and take no room from others.
    of_api = _size(tool for tool in tools if tool.name in OF_API)
    most_built_in = max(most // 2, BUILT_IN_CHARS) + of_api
    if _size(tools) <= most and _size(filter(is_built_in, tools)) <= most_built_in:
        # It explains why the tools on rows are missing, if they are.
        needs_it = bool(why_missing(scope.user, scope.run.pk))
        return [tool for tool in tools if needs_it or tool.name != FIND_TOOLS]
    named = mentioned_names(kept_of(scope.run.context).mentioned, TOOL)
    near = {*_own_names(scope), *scope.loaded_tools, *named, FOLLOWUPS}
    near |= ALWAYS_TOLD | OF_API
    if has_form(scope.context.page):
        near |= {FILL_FORM, GET_PAGE_STATE}
    told = {tool.name for tool in tools if tool.name in near or _is_of_site(tool)}
    chosen = [tool for tool in tools if tool.name in told]
    left = most - _size(chosen)
    left_built_in = most_built_in - _size(filter(is_built_in, chosen))
    for tool in sorted(tools, key=_in_turn):
        room = min(left, left_built_in) if is_built_in(tool) else left
        if tool.name not in told and schema_chars(tool) <= room:
            told.add(tool.name)
            left -= schema_chars(tool)
            left_built_in -= schema_chars(tool) if is_built_in(tool) else 0
    return [tool for tool in tools if tool.name in told]


def is_built_in(tool: ToolDefinition) -> bool:
    """Return whether the tool is built in; one that replaces a built-in tool is not."""
    return tool.origin.startswith(OWN_PACKAGE)


def _is_of_site(tool: ToolDefinition) -> bool:
    """Return whether the site, or the page itself, wants it offered everywhere."""
    return tool.offer.shared and not is_built_in(tool)


def _in_turn(tool: ToolDefinition) -> tuple[bool, bool, int]:
    """Sort the site's tools before built-in ones: those in daily use, short ones first."""
    if not is_built_in(tool):
        return False, False, 0
    return True, tool.name in SELDOM, schema_chars(tool)


def tool_schemas(tools: list[ToolDefinition]) -> list[dict[str, Any]]:
    """Return the schemas of `tools` for the model."""
    return [model_schema(tool) for tool in tools]


def _own_names(scope: RunScope) -> list[str]:
    chosen = scope.module.configured.tools
    # Of those that the row chooses, what would not be there belongs to the page now.
    added = _names_of_modules().intersection(chosen) if chosen else ()
    named = [*_tools_of_module(scope), *sorted(added), *scope.view_parts.tools]
    return list(dict.fromkeys(map(tool_name, named)))


def _tools_of_module(scope: RunScope) -> list[Any]:
    module = scope.module
    named = value_or(
        None,
        lambda: list(module.get_tools(scope.context)),
        "get_tools of module %r failed",
        module.id,
    )
    if named is None:
        return list(module.tools)
    # What `tools` leaves out would belong to this page, and to all others.
    declared = set(map(tool_name, module.tools))
    return [one for one in named if not declared or tool_name(one) in declared]


def _names_of_modules() -> set[str]:
    modules = {tool_name(tool) for one in registered_modules() for tool in one.tools}
    return modules | names_of_views()


def _size(tools: Iterable[ToolDefinition]) -> int:
    return sum(map(schema_chars, tools))


# --- the tool with which the model finds those that it was not offered ---


def _summary(_arguments: dict[str, Any], data: Any) -> str:
    return _("Looked for tools: %(found)s") % {"found": found(len(data["found"]))}


@decorators.tool(
    effect="read",
    name=FIND_TOOLS,
    summary=_summary,
    label=gettext_lazy("Find tools"),
    icon="search",
    shared=True,
)
def find_tools(context: RunContext, query: str) -> dict[str, Any]:
    """
    Find more tools by a few words, in English or as this site names things.

    Use it if no tool that you have does what is asked. Those found can be called
    from your next step on.
    """
    run = Run.objects.get(pk=context.run_id)
    scope = RunScope(run, context.user)
    told = {one.name for one in told_tools(scope)}
    others = [one for one in tools_of(scope) if one.name not in told]
    matching = find_matching_tools(query, others)
    missing = why_missing(context.user, context.run_id)
    said = {"missing": missing} if missing else {}
    if not matching:
        note = "There is no other tool for this. Say so."
        return {"found": [], "note": note, **said}
    _load(run, matching)
    lines = [_line(one) for one in matching]
    return {"found": lines, "note": "You have them now.", **said}


@unit
def _load(run: Run, found: list[ToolDefinition]) -> None:
    """Offer the found tools in the next steps of the run."""
    pass_by_state(run.pk)  # two searches stand in line
    loaded = Run.objects.values_list("loaded_tools", flat=True).get(pk=run.pk)
    names = dict.fromkeys([*loaded, *(one.name for one in found)])
    Run.objects.filter(pk=run.pk).update(loaded_tools=[*names])


def _line(one: ToolDefinition) -> dict[str, str]:
    return {"name": one.name, "does": one.description.partition("\n\n")[0]}
