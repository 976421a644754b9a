"""Compose the prompt of a run's next step, or of a message that is not sent yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.utils import timezone

from ai_assistant.conf import DEFAULT
from ai_assistant.configuration.begun import Begun
from ai_assistant.configuration.commands import named_in, sent_command
from ai_assistant.configuration.memories import memory_parts
from ai_assistant.configuration.parts import taught_parts
from ai_assistant.configuration.placement import applies
from ai_assistant.configuration.registered import RegisteredPart, registered_parts
from ai_assistant.configuration.setup import agent_named
from ai_assistant.context.page import find_page, page_info
from ai_assistant.context.provided import providers_of
from ai_assistant.engine.accounting.prompts import ShownPrompt, shown
from ai_assistant.engine.calls.availability import told_tools, tool_schemas, tools_of
from ai_assistant.engine.delegation import agents_part
from ai_assistant.engine.lifecycle.hooks import RunHooks
from ai_assistant.engine.lifecycle.scope import RunScope, module_prompt
from ai_assistant.exceptions import ArgumentsMissing, CommandAnswered, Refused
from ai_assistant.hooks.points import PromptDraft
from ai_assistant.models.run import Run
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.resolve import NO_RUN, module_for
from ai_assistant.prompts.system import system_prompt
from ai_assistant.prompts.tree import Prompt, PromptPart, PromptTree
from ai_assistant.text.redaction.redact import redact
from ai_assistant.tools.api.directory import api_part
from ai_assistant.tools.api.search import operations_for
from ai_assistant.types import JSON, ToolDefinition


@dataclass(frozen=True, kw_only=True, slots=True)
class Composed:
    """
    The prompt and the tools of one request, before hooks of the site have changed it.

    `open_tools` may be called too.
    """

    tree: PromptTree
    left_out: Sequence[str]  # ids of parts
    tools: list[ToolDefinition]
    open_tools: list[ToolDefinition]
    begun: Begun  # what the site has taught by then


def compose(scope: RunScope, *, changed_elsewhere: bool = False) -> Composed:
    """Return the prompt and the tools of the next request. May ask the database."""
    open_tools = tools_of(scope)
    tools = told_tools(scope, open_tools)
    taught, left_out = taught_parts(scope.setup, scope.module, scope.agent)
    remembered, forgotten = memory_parts(scope.user)
    tree = system_prompt(
        scope.run,
        scope.user,
        tools=tools,
        module=_module_part(scope),
        taught=[
            *taught,
            *agents_part(scope.context, tools),
            *api_part(scope.context, tools),
            *remembered,
        ],
        items=scope.items,
        read_only=scope.read_only.refusal if scope.read_only else "",
        changed_elsewhere=changed_elsewhere,
    )
    begun = Begun.of(
        scope.setup.instructions,
        scope.setup.skills.values(),
        scope.agent,
        scope.module.configured,
        told={part.id for part in taught},
        left_out=left_out,
    )
    return Composed(
        tree=tree,
        left_out=[*left_out, *forgotten],
        tools=tools,
        open_tools=open_tools,
        begun=begun,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class PromptLook:
    """What the model would be told with a first message of a user, and by whose choice."""

    prompt: ShownPrompt
    message: str  # with a command that is a template expanded
    module: str
    agent: str
    profile: str
    tools: tuple[ToolDefinition, ...]
    findable: tuple[ToolDefinition, ...]  # not told, but found by `find_tools`


def look_at_prompt(user: Any, page_path: str, text: str = "") -> PromptLook:
    """Return what the model would be told with a message; nothing is stored or sent."""
    return look_at_run(*unsent_run(user, page_path), text)


def look_at_run(run: Run, scope: RunScope, text: str) -> PromptLook:
    """Return what the model would be told with a message that is that unsaved run."""
    composed, prompt = _prompt_of(run, scope)
    told = {tool.name for tool in composed.tools}
    agent = scope.agent
    profile = (agent.profile if agent else "") or scope.module.configured.profile
    return PromptLook(
        prompt=prompt,
        message=redact(_message(text, scope)),
        module=scope.module.id,
        agent=agent.name if agent else "",
        profile=profile or DEFAULT,
        tools=tuple(composed.tools),
        findable=tuple(one for one in composed.open_tools if one.name not in told),
    )


def next_prompt(user: Any, page_path: str) -> ShownPrompt:
    """Return the prompt that a first message of `user` on a page would get."""
    return _prompt_of(*unsent_run(user, page_path))[1]


def unsent_run(user: Any, page_path: str) -> tuple[Run, RunScope]:
    """Return the run that a first message of a user on a page would be, unsaved."""
    module = module_for(page_info(page_path), user)
    agent = agent_named(module.configured.agent)
    run = Run(
        id=NO_RUN,
        conversation_id=uuid4(),
        user_id=user.pk,
        page_path=page_path,
        module=module.id,
        agent=agent.name if agent else "",
        created_at=timezone.now(),
    )
    return run, RunScope(run, user, is_fresh=True)


def _prompt_of(run: Run, scope: RunScope) -> tuple[Composed, ShownPrompt]:
    hooks, composed = RunHooks(run, scope), compose(scope)
    draft = PromptDraft(tree=composed.tree)
    tree = hooks.ask(hooks.at("process_prompt"), draft).value.tree
    prompt = tree.flatten(composed.left_out)
    return composed, shown(prompt, tool_schemas(composed.tools))


def _message(text: str, scope: RunScope) -> str:
    """Return a message with the command that it is; one that is code is not called."""
    named = named_in(text)
    command = scope.setup.commands.get(named[0]) if named else None
    if command is None or callable(command.text):
        return text
    try:
        sent = sent_command(text, scope.setup.commands, scope.context, {})
    except (Refused, CommandAnswered, ArgumentsMissing):
        return text
    return sent.prompt if sent else text


def _module_part(scope: RunScope) -> PromptPart:
    module = scope.module
    return PromptPart(
        id="module",
        text=module_prompt(scope).strip(),
        source=f"module:{module.id}",
        cacheable=type(module).get_prompt is ContextModule.get_prompt,
    )


# --- what else applies there ---


@dataclass(frozen=True, kw_only=True, slots=True)
class PartsHere:
    """The names of what applies on a page, by kind; and the module of the page."""

    module: str
    names: dict[str, frozenset[str]]


def parts_here(user: Any, page_path: str) -> PartsHere:
    """Return what applies to a first message of a user on a page. Asks the database."""
    scope = unsent_run(user, page_path)[1]
    page, setup = find_page(page_path), scope.setup
    names: dict[str, set[str]] = {
        "context": {one.name for one in providers_of(page)} if page else set(),
        "tools": {tool.name for tool in tools_of(scope)},
        "modules": {scope.module.id},
        "commands": {*setup.commands},
        "skills": {*setup.skills},
        "instructions": {one.name for one in setup.instructions},
        "agents": {*setup.agents},
    }
    names["operations"] = operations_for(scope.context, names["tools"])
    parts = registered_parts()
    names["hooks"] = {one.name for one in parts["hooks"] if _is_asked(one, scope)}
    names["suggestions"] = {
        one.name for one in parts["suggestions"] if _is_suggested(one, scope)
    }
    found = {kind: frozenset(said) for kind, said in names.items()}
    return PartsHere(module=scope.module.id, names=found)


def _is_asked(part: RegisteredPart, scope: RunScope) -> bool:
    return bool(part.part.is_for(scope.module.id, "", scope.run.agent))


def _is_suggested(part: RegisteredPart, scope: RunScope) -> bool:
    if isinstance(part.part, str):
        return part.part in map(str, scope.module.suggestions)
    placement = part.placement
    return placement is not None and applies(placement, scope.context, part.name)


def prompt_of_hooks(message: JSON, hooks: Sequence[str]) -> Prompt:
    """Return the prompt as hooks have written it, in one part."""
    text = str(message.get("content") or "") if message["role"] == "system" else ""
    source = f"hook:{','.join(hooks)}"
    return Prompt(parts=(PromptPart(id="hooks", text=text, source=source),))
