"""The plan for an input: history, a new run, or answers to a waiting one."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from ag_ui.core import ResumeEntry, RunAgentInput, TextPart, ToolMessage, UserMessage
from django.db.models import Q
from django.utils.translation import gettext as _
from jsonschema import Draft202012Validator

from ai_assistant.engine.queries import active_run, last_run
from ai_assistant.engine.service import (
    VALUE_CHARS,
    Answer,
    Channel,
    ClientNames,
    FromPage,
    Given,
    RunState,
    SentPage,
    Submission,
    Version,
    again_submission,
    check_unused,
    edited_submission,
    names_newest,
    open_requests,
    regenerate_submission,
    waiting_below,
    waiting_for_person,
)
from ai_assistant.exceptions import Refused
from ai_assistant.render.agui.interrupts import form_of, interrupt_id
from ai_assistant.safety.identity.tokens import Scope
from ai_assistant.web.agui.acts import Act, asked_act
from ai_assistant.web.agui.input import (
    check_name,
    own_props,
    read_client_context,
    read_client_state,
)
from ai_assistant.web.agui.threads import find_thread, no_thread, own_id
from ai_assistant.web.panel.fields import page_path
from ai_assistant.web.principal import Caller

if TYPE_CHECKING:
    from ai_assistant.engine.queries import Conversation, Interrupt, Run


@dataclass(frozen=True, kw_only=True, slots=True)
class NewMessages:
    """
    The new messages of a person.

    `is_repeat` means that the last message is of the user and known already.
    """

    text: str = ""
    message_id: str = ""
    is_repeat: bool = False


def new_messages(
    messages: Sequence[Any], conversation: "Conversation | None"
) -> NewMessages:
    """
    Return the user's messages at the end of the input that are not stored yet.

    Everything before the last answer is history, which the server has itself. Several
    in a row become one, with the id of the last.
    """
    # Since the last answer.
    after = takewhile(lambda message: message.role != "assistant", reversed(messages))
    tail = [message for message in after if isinstance(message, UserMessage)][::-1]
    for message in tail:
        check_name("id", message.id)
    stored = _known_ids(conversation, [message.id for message in tail])
    new = [message for message in tail if message.id not in stored]
    if not new:
        return NewMessages(is_repeat=bool(tail))
    return NewMessages(text="\n\n".join(map(message_text, new)), message_id=new[-1].id)


def results_by_call(messages: Sequence[Any]) -> dict[str, ToolMessage]:
    """Return the results that the input holds, by the id of their call."""
    return {
        message.tool_call_id: message
        for message in messages
        if isinstance(message, ToolMessage)
    }


def message_text(message: UserMessage | ToolMessage) -> str:
    """Return the text of a message; other parts are ignored."""
    if isinstance(message.content, str):
        return message.content
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    return "\n\n".join(texts)


def _known_ids(conversation: "Conversation | None", ids: list[str]) -> set[str]:
    if conversation is None:
        return set()
    row_ids = [parsed for name in ids if (parsed := own_id(name)) is not None]
    rows = conversation.messages.filter(Q(client_id__in=ids) | Q(pk__in=row_ids))
    named = rows.values_list("client_id", "pk")
    return {str(name) for names in named for name in names if name}


def read_answers(
    caller: Caller, run: "Run", entries: Sequence[ResumeEntry]
) -> list[Answer]:
    """
    Return the answers to all open interrupts of `run`.

    Entries for other interrupts are ignored: they are answered already, or unknown.
    Raise Refused: interrupts_open if one is left out, bad_payload, scope.
    """
    entries_by_id = {entry.interrupt_id: entry for entry in entries}
    waits = list(waiting_below(run).select_related("call"))
    may_answer = caller.may_answer
    ids = {wait.pk: interrupt_id(wait, may_answer=may_answer) for wait in waits}
    missing = [wait for wait in waits if ids[wait.pk] not in entries_by_id]
    if missing:
        raise Refused(
            "interrupts_open",
            _("%(n)d of %(all)d open interrupts have no answer. Answer all of them.")
            % {"n": len(missing), "all": len(waits)},
        )
    if waits:
        caller.check_scope(Scope.APPROVE)
    return [_answer(caller, wait, entries_by_id[ids[wait.pk]]) for wait in waits]


def read_results(
    caller: Caller, run: "Run", results: dict[str, ToolMessage]
) -> list[FromPage]:
    """Return the results of open calls that the client executes."""
    return [
        _result(caller, interrupt, results[str(interrupt.call_id)])
        for interrupt in open_requests(run, of_client=True)
        if str(interrupt.call_id) in results
    ]


def _answer(caller: Caller, interrupt: "Interrupt", entry: ResumeEntry) -> Answer:
    form = form_of(interrupt)
    fields: dict[str, Any] = {"decision": form.left}
    if entry.status == "resolved":
        fields = form.read(_checked(form.schema(interrupt), entry.payload))
    return Answer(
        user_id=caller.user.pk,
        interrupt_id=interrupt.pk,
        nonce=interrupt.nonce,
        stamp=caller.stamp,
        **fields,
    )


def _checked(schema: Mapping[str, Any], payload: Any) -> dict[str, Any]:
    for fault in Draft202012Validator(schema).iter_errors(payload):
        location = ".".join(map(str, fault.path)) or "payload"
        raise Refused(
            "bad_payload",
            _("“%(where)s” of an answer is invalid: %(why)s.")
            % {"where": location, "why": fault.message[:200]},
        )
    return payload  # type: ignore[no-any-return]


def _result(caller: Caller, interrupt: "Interrupt", message: ToolMessage) -> FromPage:
    text = message_text(message)
    fault = message.error or ""
    if len(text) > VALUE_CHARS:
        text, fault = "", _("Its answer is too large.")
    return FromPage(
        user_id=caller.user.pk,
        interrupt_id=interrupt.pk,
        nonce=interrupt.nonce,
        is_client=True,
        value=text,
        code="failed" if fault else "",
        error=f"{fault} {text}".strip() if fault else "",
    )


TITLE_CHARS = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class ShowHistory:
    """Send the conversation, and continue the active run, if there is one."""

    conversation: "Conversation"
    run: "Run | None"


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """Start a run. `instead_of` is a run that waits for the client and ends now."""

    submission: Submission
    instead_of: UUID | None = None

    @property
    def is_stored_at_once(self) -> bool:
        """Whether nothing has to be done before the message is stored."""
        return self.instead_of is None and not self.submission.is_unexpanded

    @property
    def conversation_id(self) -> UUID:
        return self.submission.conversation_id


@dataclass(frozen=True, kw_only=True, slots=True)
class GoOn:
    """Resume a waiting run."""

    run_id: UUID
    conversation_id: UUID
    client: ClientNames
    given: Given


@dataclass(frozen=True, kw_only=True, slots=True)
class Tell:
    """Say something to a run under way, or let it wait for its end; answer at once."""

    submission: Submission


Plan = ShowHistory | Start | GoOn | Tell | Act


def plan(caller: Caller, body: RunAgentInput) -> Plan:
    """
    Return the plan for an input. Reads the database, changes nothing.

    Raise Refused: not_found, run_id_used, busy, interrupts_open, nothing_new, not_ended, and
    what reading answers, context and tools raises.
    """
    conversation = find_thread(caller.user, body.thread_id)
    if act := asked_act(caller, body, conversation):
        return act
    regenerates = own_props(body).get("regenerate")
    if not (body.messages or body.resume or regenerates):
        if conversation is None:
            raise no_thread(body.thread_id)
        return ShowHistory(conversation=conversation, run=active_run(conversation))
    thread = "" if own_id(body.thread_id) else body.thread_id
    client = ClientNames(run=body.run_id, thread=thread)
    active = active_run(conversation)
    goes_on = active and body.resume and names_newest(active, client)
    if conversation is not None and not goes_on:
        check_unused(conversation, client)
    new = new_messages(body.messages, conversation)
    client = replace(client, message=new.message_id)
    props = own_props(body)
    if conversation is not None and (isinstance(props.get("edit"), str) or regenerates):
        make = _another_answer if regenerates else _edit_submission
        submission = make(caller, body, new, conversation)
        submission = replace(submission, channel=Channel.AGUI, client=client)
        return Start(submission=submission)
    if active is None:
        return Start(submission=_submission(caller, body, client, new, conversation))
    steers, queues = props.get("steer") is True, props.get("queue") is True
    if new.text and (steers or queues):
        said = _submission(caller, body, client, new, conversation)
        return Tell(submission=replace(said, steers=steers, queues=queues))
    return _to_active(caller, body, client, new, active)


def _to_active(
    caller: Caller,
    body: RunAgentInput,
    client: ClientNames,
    new: NewMessages,
    active: "Run",
) -> Plan:
    answers = read_answers(caller, active, body.resume or [])
    results = read_results(caller, active, results_by_call(body.messages))
    if not answers and not results:
        if new.text and _waits_for_client(active):
            submission = _submission(caller, body, client, new, active.conversation)
            return Start(submission=submission, instead_of=active.pk)
        raise _busy(active)
    answered = Given(
        user_id=caller.user.pk,
        answers=answers,
        results=results,
        text=new.text,
        key=_key(body.thread_id, f"{body.run_id}\0{new.message_id}"),
    )
    return GoOn(
        run_id=active.pk,
        conversation_id=active.conversation_id,
        client=client,
        given=answered,
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
    """Return whether the run waits only for calls that the client executes."""
    is_its = run.state == RunState.WAITING_BROWSER
    return is_its and not waiting_for_person(run=run).exists()


def _submission(
    caller: Caller,
    body: RunAgentInput,
    client: ClientNames,
    new: NewMessages,
    conversation: "Conversation | None",
) -> Submission:
    if new.is_repeat and conversation is not None:
        return _retry_submission(caller, client, conversation)
    if not new.text and not new.message_id:
        raise _nothing_new()
    props = own_props(body)
    new_id = own_id(body.thread_id) or uuid4()
    return Submission(
        user_id=caller.user.pk,
        conversation_id=conversation.pk if conversation else new_id,
        key=_key(body.thread_id, body.run_id),
        text=new.text,
        page=SentPage(
            path=page_path(_text(props.get("path"))),
            title=_text(props.get("title"))[:TITLE_CHARS],
            context=read_client_context(body),
        ),
        stamp=caller.stamp,
        look_only=props.get("lookOnly") is True,
        agent=props["agent"] if isinstance(props.get("agent"), str) else None,
        state=read_client_state(body),
        channel=Channel.AGUI,
        client=client,
    )


def _edit_submission(
    caller: Caller,
    body: RunAgentInput,
    new: NewMessages,
    conversation: "Conversation",
) -> Submission:
    """Return a submission that asks something else in the place of a question."""
    run_id = _run_of_question(conversation, own_props(body)["edit"])
    texts = [message_text(m) for m in body.messages if isinstance(m, UserMessage)]
    text = new.text or (texts[-1] if texts else "")
    return edited_submission(_version(caller, body, run_id), text)


def _another_answer(
    caller: Caller,
    body: RunAgentInput,
    new: NewMessages,
    conversation: "Conversation",
) -> Submission:
    """Return a submission for another answer to a question; `true` is the last one."""
    name, last = own_props(body)["regenerate"], last_run(conversation)
    if new.text:
        sentence = _("Another answer takes no new message. Send one of both.")
        raise Refused("bad_input", sentence)
    if last is None:
        raise _nothing_new()
    run_id = last.pk if name is True else _run_of_question(conversation, name)
    return regenerate_submission(_version(caller, body, run_id))


def _run_of_question(conversation: "Conversation", name: object) -> UUID:
    """Return the run of a question. Raise Refused not_found if it is none."""
    text = _text(name)
    named = Q(client_id=text) | Q(pk=own_id(text))
    message = conversation.messages.questions().filter(named).first()
    if not text or message is None:
        sentence = _("There is no question “%(id)s” in this thread.") % {"id": name}
        raise Refused("not_found", sentence)
    return message.run_id


def _version(caller: Caller, body: RunAgentInput, run_id: UUID) -> Version:
    """Return who wants another version of a run."""
    return Version(
        user_id=caller.user.pk,
        run_id=run_id,
        key=_key(body.thread_id, body.run_id),
        stamp=caller.stamp,
        look_only=own_props(body).get("lookOnly") is True,
    )


def _retry_submission(
    caller: Caller, client: ClientNames, conversation: "Conversation"
) -> Submission:
    """Return a submission that retries a question without a complete answer."""
    last = last_run(conversation)
    if last is None or last.state == RunState.SUCCEEDED:
        raise _nothing_new()
    key = _key(str(conversation.pk), client.run)
    submission = again_submission(caller.user.pk, last.pk, key, caller.stamp)
    return replace(submission, channel=Channel.AGUI, client=client)


def _nothing_new() -> Refused:
    return Refused("nothing_new", _("The input contains no new message."))


def keeps(body: RunAgentInput) -> bool:
    """Return whether the run continues when its client leaves."""
    return own_props(body).get("keep") is True


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _key(thread: str, run: str) -> str:
    """Return the idempotency key: one message for one run of the client."""
    digest = hashlib.sha256(f"{thread}\0{run}".encode()).hexdigest()
    return f"agui-{digest[:48]}"
