"""Compose the prompt of a run's next step, or of a message that is not sent yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.utils import timezone

from ai_assistant.configuration.begun import Begun
from ai_assistant.configuration.memories import memory_parts
from ai_assistant.configuration.parts import taught_parts
from ai_assistant.context.page import page_info
from ai_assistant.engine.accounting.prompts import ShownPrompt, shown
from ai_assistant.engine.calls.availability import told_tools, tool_schemas, tools_of
from ai_assistant.engine.delegation import agents_part
from ai_assistant.engine.lifecycle.hooks import RunHooks
from ai_assistant.engine.lifecycle.scope import RunScope, module_prompt
from ai_assistant.hooks.points import PromptDraft
from ai_assistant.models.run import Run
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.resolve import NO_RUN, module_for
from ai_assistant.prompts.system import system_prompt
from ai_assistant.prompts.tree import PromptPart, PromptTree
from ai_assistant.types import ToolDefinition


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
        taught=[*taught, *agents_part(scope.context, tools), *remembered],
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


def next_prompt(user: Any, page_path: str) -> ShownPrompt:
    """Return the prompt that a first message of `user` on a page would get."""
    run = Run(
        id=NO_RUN,
        conversation_id=uuid4(),
        user_id=user.pk,
        page_path=page_path,
        module=module_for(page_info(page_path), user).id,
        created_at=timezone.now(),
    )
    scope = RunScope(run, user, is_fresh=True)
    hooks, composed = RunHooks(run, scope), compose(scope)
    draft = PromptDraft(tree=composed.tree)
    tree = hooks.ask(hooks.at("process_prompt"), draft).value.tree
    return shown(tree.flatten(composed.left_out), tool_schemas(composed.tools))


def _module_part(scope: RunScope) -> PromptPart:
    module = scope.module
    return PromptPart(
        id="module",
        text=module_prompt(scope).strip(),
        source=f"module:{module.id}",
        cacheable=type(module).get_prompt is ContextModule.get_prompt,
    )
