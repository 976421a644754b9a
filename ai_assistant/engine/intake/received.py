"""What hooks of the site make of a message, and the state and agent that its run gets."""

from dataclasses import replace
from functools import partial
from typing import Any

from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.conf import DEFAULT
from ai_assistant.configuration.setup import agent_named, has_agents
from ai_assistant.context.page import page_info
from ai_assistant.engine.intake.values import Submission
from ai_assistant.engine.lifecycle.hooks import Kept
from ai_assistant.exceptions import ModelError, Refused
from ai_assistant.hooks.passes import Asking
from ai_assistant.hooks.points import UserMessage
from ai_assistant.hooks.running import ask, hooks_of
from ai_assistant.hooks.state import CLIENT, merged, of_site
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.resolve import NO_RUN, module_for
from ai_assistant.providers.errors import error_text
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.tools.result import HOOK
from ai_assistant.types import RunContext
from ai_assistant.types.hook import State


def as_received(submission: Submission, text: str) -> Submission:
    """
    Let hooks of the site see a message; return it with what they leave.

    They change nothing of it: what a person has typed decides what needs an approval.
    Raise Refused if one refuses it.
    """
    if not registry.hooks_at("user_message_received") or not submission.is_message:
        return submission
    page = page_info(submission.page.path, submission.page.title)
    module = module_of_page(submission).id
    agent = submission.agent or ""
    found = hooks_of("user_message_received", module, agent=agent)
    if not found:
        return submission
    # Read here: a thread for hooks would open a connection for it.
    own = Run.objects.filter(
        conversation_id=submission.conversation_id, user_id=submission.user_id
    )
    values = own.order_by("created_at").values_list("state_values", flat=True)
    context = RunContext(
        user=SimpleLazyObject(partial(fresh_user, submission.user_id)),
        run_id=NO_RUN,
        conversation_id=submission.conversation_id,
        page=page,
        module=module,
        agent=agent,
        state=State("", values.last() or {}),
    )
    message = UserMessage(text=text, page_path=submission.page.path)
    outcome = ask(found, Asking(value=message, context=lambda: context))
    if outcome.refused:
        raise Refused(HOOK, outcome.refused)
    kept = Kept(changes=outcome.changes, failures=outcome.failures)
    return replace(submission, kept=kept)


def begin_state(run: Run, submission: Submission) -> None:
    """
    Set the state that a run begins with: that of the one before, and what is new.

    Raise Refused too_large if a client sends too much.
    """
    values: dict[str, Any] = {**run.state_values}
    if submission.state is not None:
        values.pop(CLIENT, None)
        values |= {CLIENT: dict(submission.state)} if submission.state else {}
    changes = submission.kept.changes
    told = {*run.state_data, *([CLIENT] if CLIENT in values else [])}
    # Their hooks have seen it, and may have made of it what they keep.
    if told or submission.label == Message.Label.DATA:
        told.update(change.namespace for change in changes)
    try:
        values = merged(values, changes)
    except ValueError as error:
        raise Refused("too_large", _("The state is too large.")) from error
    run.state_data = sorted(told.intersection(values))
    if values != run.state_values:
        run.state_values, run.state_version = values, run.state_version + 1
    run.hook_errors = [
        {"hook": one.hook, "point": one.point, "error": one.error, "count": 1}
        for one in submission.kept.failures
    ]
    if of_site(values):
        run.next_seq = 3  # a client is told of it at once


def module_of_page(submission: Submission) -> ContextModule:
    """Return the module of the page from which a message comes, as its user has it."""
    if submission.module is not None:
        return submission.module
    # The user is read only if a row is for a group.
    user = SimpleLazyObject(partial(fresh_user, submission.user_id))
    return module_for(page_info(submission.page.path), user)


def with_agent(submission: Submission, before: str | None) -> Submission:
    """
    Return the submission with its module, and with an agent if it names none.

    `before` is the agent of the run before; a conversation that begins has that of its
    page's module. Raise Refused no_agent if there is no such agent.
    """
    agent, module = submission.agent, module_of_page(submission)
    if agent is None and before is not None:
        agent = before if has_agents() else ""
    if agent is None:
        agent = module.configured.agent
        if agent_named(agent) is None:
            agent = ""  # it was deleted; nobody has asked for it
    if agent and agent_named(agent) is None:
        raise Refused("no_agent", error_text(ModelError("no_agent")))
    return replace(submission, agent=agent or "", module=module)


def profile_of(submission: Submission) -> str:
    """Return the profile that the person chose, else that of the agent, or the module."""
    if submission.profile != DEFAULT:
        return submission.profile
    agent = agent_named(submission.agent or "")
    if agent is not None and agent.profile:
        return agent.profile
    own = module_of_page(submission).configured.profile
    return own if own in conf.profiles() else DEFAULT
