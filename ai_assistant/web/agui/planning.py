"""What an input asks for: the history, a new run, or that a waiting one goes on."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ag_ui.core import RunAgentInput
from django.utils.translation import gettext as _

from ai_assistant.engine.queries import active_run, last_run
from ai_assistant.engine.service import (
    Channel,
    ClientNames,
    Given,
    RunState,
    Submission,
    again_submission,
    check_unused,
    names_newest,
    waiting_for_person,
)
from ai_assistant.exceptions import Refused
from ai_assistant.web.agui.answers import (
    Said,
    read_answers,
    read_results,
    results_by_call,
    said_anew,
)
from ai_assistant.web.agui.input import read_client_context
from ai_assistant.web.agui.threads import find_conversation, new_id, no_thread, own_id
from ai_assistant.web.panel.fields import page_path
from ai_assistant.web.principal import Caller

if TYPE_CHECKING:
    from ai_assistant.models.conversation import Conversation
    from ai_assistant.models.run import Run

TITLE_CHARS = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class ShowHistory:
    """Tell the conversation, and go on with the run that is under way, if one is."""

    conversation: "Conversation"
    run: "Run | None"


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Start a run. `instead_of` waits for the client, and ends with this."""

    submission: Submission
    instead_of: UUID | None = None

    @property
    def conversation_id(self) -> UUID:
        return self.submission.conversation_id


@dataclass(frozen=True, kw_only=True, slots=True)
class GoOn:
    """Let a waiting run go on."""

    run_id: UUID
    conversation_id: UUID
    client: ClientNames
    given: Given


Plan = ShowHistory | Start | GoOn


def plan(caller: Caller, said: RunAgentInput) -> Plan:
    """
    Return what to do. Reads the database, changes nothing.

    Raise Refused: not_found, run_id_used, busy, interrupts_open, nothing_new, and
    what reading answers, context and tools raises.
    """
    conversation = find_conversation(caller.user, said.thread_id)
    if not said.messages and not said.resume:
        return _history(conversation, said.thread_id)
    client = _names(said)
    active = active_run(conversation)
    goes_on = active and said.resume and names_newest(active, client)
    if conversation is not None and not goes_on:
        check_unused(conversation, client)
    news = said_anew(said.messages, conversation)
    client = replace(client, message=news.message_id)
    if active is None:
        return Start(submission=_submission(caller, said, client, news, conversation))
    return _to_active(caller, said, client, news, active)


def _history(conversation: "Conversation | None", thread: str) -> ShowHistory:
    if conversation is None:
        raise no_thread(thread)
    return ShowHistory(conversation=conversation, run=active_run(conversation))


def _names(said: RunAgentInput) -> ClientNames:
    thread = "" if own_id(said.thread_id) else said.thread_id
    return ClientNames(run=said.run_id, thread=thread)


def _to_active(
    caller: Caller, said: RunAgentInput, client: ClientNames, news: Said, active: "Run"
) -> Plan:
    answers = read_answers(caller, active, said.resume or [])
    results = read_results(caller, active, results_by_call(said.messages))
    if not answers and not results:
        if news.text and _waits_for_client(active):
            submission = _submission(caller, said, client, news, active.conversation)
            return Start(submission=submission, instead_of=active.pk)
        raise _busy(active)
    given = Given(
        user_id=caller.user.pk,
        answers=answers,
        results=results,
        text=news.text,
        key=_key(said.thread_id, f"{said.run_id}\0{news.message_id}"),
    )
    return GoOn(
        run_id=active.pk,
        conversation_id=active.conversation_id,
        client=client,
        given=given,
    )


def _busy(active: "Run") -> Refused:
    if _waits_for_client(active):
        return Refused(
            "nothing_new",
            _("The run waits for results of your tools. None of them is new."),
        )
    return Refused(
        "busy", _("The assistant is still working. Stop it, or wait for its answer.")
    )


def _waits_for_client(run: "Run") -> bool:
    """Tell whether only calls that the client carries out hold the run up."""
    is_its = run.state == RunState.WAITING_BROWSER
    return is_its and not waiting_for_person(run=run).exists()


def _submission(
    caller: Caller,
    said: RunAgentInput,
    client: ClientNames,
    news: Said,
    conversation: "Conversation | None",
) -> Submission:
    if news.is_repeat and conversation is not None:
        return _again(caller, client, conversation)
    if not news.text and not news.message_id:
        raise _nothing_new()
    own = _own_props(said)
    return Submission(
        user_id=caller.user.pk,
        conversation_id=conversation.pk if conversation else new_id(said.thread_id),
        key=_key(said.thread_id, said.run_id),
        text=news.text,
        page_path=page_path(_text(own.get("path"))),
        page_title=_text(own.get("title"))[:TITLE_CHARS],
        context=read_client_context(said),
        stamp=caller.stamp,
        look_only=own.get("lookOnly") is True,
        channel=Channel.AGUI,
        client=client,
    )


def _again(
    caller: Caller, client: ClientNames, conversation: "Conversation"
) -> Submission:
    """Return another try at a question that had no whole answer."""
    last = last_run(conversation)
    if last is None or last.state == RunState.SUCCEEDED:
        raise _nothing_new()
    key = _key(str(conversation.pk), client.run)
    submission = again_submission(caller.user.pk, last.pk, key, caller.stamp)
    return replace(submission, channel=Channel.AGUI, client=client)


def _nothing_new() -> Refused:
    return Refused("nothing_new", _("The input holds no message that is new."))


def keeps(said: RunAgentInput) -> bool:
    """Tell whether the run is to go on when its client leaves."""
    return _own_props(said).get("keep") is True


def _own_props(said: RunAgentInput) -> Mapping[str, Any]:
    props = said.forwarded_props
    own = props.get("aia") if isinstance(props, dict) else None
    return own if isinstance(own, dict) else {}


def _text(said: object) -> str:
    return said if isinstance(said, str) else ""


def _key(thread: str, run: str) -> str:
    """Return the idempotency key: one message for one run of the client."""
    digest = hashlib.sha256(f"{thread}\0{run}".encode()).hexdigest()
    return f"agui-{digest[:48]}"
