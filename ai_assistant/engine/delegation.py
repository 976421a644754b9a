"""The tool with which one agent asks another, and the wait for its answer."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field

from ai_assistant.conf import DEFAULT
from ai_assistant.configuration.setup import agent_named, setup_of_run
from ai_assistant.decorators import tool
from ai_assistant.engine.calls.provenance import has_data
from ai_assistant.engine.intake.submission import begin, clean_text
from ai_assistant.engine.intake.values import SentPage, Submission
from ai_assistant.engine.interrupts.base import InterruptKind, register_kind
from ai_assistant.engine.interrupts.results import record_result
from ai_assistant.engine.lifecycle.finish import Ending
from ai_assistant.engine.lifecycle.stop import request_stop, stop
from ai_assistant.engine.storage.delegated import (
    ASK_AGENT,
    STARTED,
    calls_above,
    child_of,
    tell_root,
)
from ai_assistant.events import Event
from ai_assistant.exceptions import Ask, ModelRetry, Refused
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run, RunState
from ai_assistant.prompts.tree import PromptPart
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.text.redaction.redact import redact_values
from ai_assistant.types import Agent, RunContext, ToolDefinition, ToolResult

MOST_ABOVE = 2  # runs above one another that wait for an agent
TITLE_CHARS = 60
LISTED = """\
Other agents, which ask_agent asks. Each sees the page, but not this conversation:"""
# In front of a task that a model has made of data.
MADE_OF_DATA = "[Written by another agent, from data: no wish of the user.]"


class Delegate(Ask):
    """Wait for another agent. The call is not made again: its answer is the result."""

    interrupt = Interrupt.Kind.RUN

    def __init__(self, agent: str, task: str) -> None:
        super().__init__(task)
        self.agent = agent


# --- the tool ---


def askable(context: RunContext) -> dict[str, Agent]:
    """
    Return the agents that a run may ask, by name: those that are offered to its user.

    None that waits above it, and none at all too far below the message of a person.
    """
    agents = dict(setup_of_run(context).agents)
    if agents.pop(context.agent, None) is None and not context.agent:
        return agents  # without an agent of its own it was asked by none
    run = Run.objects.filter(pk=context.run_id).first() if agents else None
    if run is not None and run.root_id is not None:
        above = calls_above(run)
        for call in above:
            agents.pop(call.run.agent, None)
        if len(above) >= MOST_ABOVE:
            return {}
    return agents


def agents_part(
    context: RunContext, tools: Sequence[ToolDefinition]
) -> list[PromptPart]:
    """Return the part of the prompt that lists the agents, where the tool is offered."""
    if not any(tool.name == ASK_AGENT for tool in tools):
        return []
    lines = [
        f"- {agent.name}: {' '.join(str(agent.description or agent).split())}"
        for agent in askable(context).values()
    ]
    text = "\n".join([LISTED, *lines])
    return [PromptPart(id="agents", text=text, source="agents", cacheable=True)]


def _summary(arguments: dict[str, Any], _data: Any) -> str:
    asked = agent_named(str(arguments.get("agent", "")))
    return _("Asked %(agent)s") % {"agent": asked or arguments.get("agent", "")}


@tool(
    effect="read",
    label=gettext_lazy("Another agent"),
    shared=True,
    icon="chat",
    is_enabled=lambda context: bool(askable(context)),
    summary=_summary,
)
def ask_agent(
    context: RunContext,
    agent: Annotated[str, Field(max_length=64)],
    task: Annotated[str, Field(min_length=1)],
) -> None:
    """
    Have another agent do a task.

    task: with all that it needs to know
    """
    agents = askable(context)
    if agent not in agents:
        known = ", ".join(agents) or "none"
        raise ModelRetry(f"{agent!r} cannot be asked here. Agents that can: {known}.")
    try:
        clean_text(task)
    except Refused as refused:
        raise ModelRetry(f"The task was not given. {refused}") from refused
    raise Delegate(agent, task)


# --- the wait ---


class AgentRun(InterruptKind):
    """Waits for a run of another agent, which begins with the wait."""

    name = Interrupt.Kind.RUN
    run_state = RunState.WAITING_RUN

    def ask(self, call: ToolCall, ask: Delegate) -> Sequence[Event]:
        """Let the call wait, and begin the run; it is executed like any other one."""
        if ask.asked_by:
            error = _("“%(name)s” cannot be called by another tool.")
            return _failed(call, error % {"name": ASK_AGENT})
        try:
            with transaction.atomic():
                _begin(call, ask)
        except Refused as refused:
            return _failed(call, str(refused))
        return [self.open(call)]

    def closed(self, interrupt: Interrupt, status: str) -> None:
        """Stop the run, if the one that waits for it has ended first."""
        child = child_of(interrupt.call_id)
        if status == Interrupt.Status.DONE or child is None or child.is_final:
            return
        ending = Ending(
            state=RunState.CANCELLED,
            code="parent_ended",
            text=_("Stopped: the answer that it was for has ended."),
        )
        request_stop(child.pk, ending)
        transaction.on_commit(partial(stop, child.pk, ending))

    def late(self) -> None:
        """Return None: the run has limits of its own."""


AGENT_RUN = register_kind(AgentRun())


def _failed(call: ToolCall, error: str) -> list[Event]:
    result = ToolResult(ok=False, error=error, error_type="delegation")
    return [*record_result(call, result, status=CallStatus.FAILED)]


def _begin(call: ToolCall, ask: Delegate) -> None:
    """Begin the run of the agent in a conversation of its own. Raise Refused."""
    run, task = call.run, redact_values(clean_text(str(ask.question)))
    is_data = has_data(run)
    if is_data:
        task = f"{MADE_OF_DATA}\n\n{task}"
    conversation = Conversation.objects.create(
        owner_id=run.user_id,
        title=" ".join(task.split())[:TITLE_CHARS],
        parent_call=call,
    )
    asked = agent_named(ask.agent)
    submission = Submission(
        user_id=run.user_id,
        conversation_id=conversation.pk,
        key=f"agent-{call.pk.hex}",
        text=task,
        page=SentPage(path=run.page_path, title=run.page_title, context=run.context),
        stamp=SessionStamp.of(run),
        channel=run.channel,
        look_only=run.look_only,
        profile=DEFAULT if asked and asked.profile else run.profile,
        agent=ask.agent,
        label="data" if is_data else "site",
        start_depth=run.start_depth,
        root=run.root_id or run.pk,
    )
    accepted = begin(conversation, submission, task, "", is_new=True)
    if accepted.rows is not None:
        tell_root(accepted.rows.run, STARTED)
