"""What of a client's input is new, and what it answers to the interrupts of a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ag_ui.core import ResumeEntry, TextPart, ToolMessage, UserMessage
from django.db.models import Q
from django.utils.translation import gettext as _
from jsonschema import Draft202012Validator

from ai_assistant.engine.service import (
    VALUE_CHARS,
    Answer,
    FromPage,
    open_requests,
    waiting_for_person,
)
from ai_assistant.exceptions import Refused
from ai_assistant.render.agui.interrupts import form_of, interrupt_id
from ai_assistant.safety.identity.tokens import Scope
from ai_assistant.web.agui.input import check_name
from ai_assistant.web.agui.threads import own_id
from ai_assistant.web.principal import Caller

if TYPE_CHECKING:
    from ai_assistant.models.conversation import Conversation
    from ai_assistant.models.interrupt import Interrupt
    from ai_assistant.models.run import Run


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """
    What a person says anew.

    `is_repeat` means that the last message is of the user and known already.
    """

    text: str = ""
    message_id: str = ""
    is_repeat: bool = False


def said_anew(messages: Sequence[Any], conversation: "Conversation | None") -> Said:
    """
    Return the user's messages at the end of the input that are not stored yet.

    All before the last answer is history, and the server has its own of that.
    Several in a row become one, with the id of the last.
    """
    tail = list(_tail(messages))
    for one in tail:
        check_name("id", one.id)
    known = _known_ids(conversation, [one.id for one in tail])
    new = [one for one in tail if one.id not in known]
    if not new:
        return Said(is_repeat=bool(tail))
    return Said(text="\n\n".join(map(text_of, new)), message_id=new[-1].id)


def results_by_call(messages: Sequence[Any]) -> dict[str, ToolMessage]:
    """Return the results that the input holds, by the id of their call."""
    return {one.tool_call_id: one for one in messages if isinstance(one, ToolMessage)}


def text_of(message: UserMessage | ToolMessage) -> str:
    """Return the text of a message; what is no text is passed over."""
    if isinstance(message.content, str):
        return message.content
    texts = [part.text for part in message.content if isinstance(part, TextPart)]
    return "\n\n".join(texts)


def _tail(messages: Sequence[Any]) -> Iterator[UserMessage]:
    found: list[UserMessage] = []
    for message in reversed(messages):
        if message.role == "assistant":
            break
        if isinstance(message, UserMessage):
            found.append(message)
    yield from reversed(found)


def _known_ids(conversation: "Conversation | None", ids: list[str]) -> set[str]:
    if conversation is None:
        return set()
    own = [found for one in ids if (found := own_id(one)) is not None]
    rows = conversation.messages.filter(Q(client_id__in=ids) | Q(pk__in=own))
    return {name for row in rows for name in (row.client_id, str(row.pk)) if name}


def read_answers(
    caller: Caller, run: "Run", entries: Sequence[ResumeEntry]
) -> list[Answer]:
    """
    Return the answers to all open interrupts of `run`.

    Entries for others are passed over: they were answered already, or never asked.
    Raise Refused: interrupts_open if one is left out, bad_payload, scope.
    """
    given = {entry.interrupt_id: entry for entry in entries}
    waits = list(waiting_for_person(run=run).select_related("call"))
    may_answer = caller.may_answer
    ids = {one.pk: interrupt_id(one, may_answer=may_answer) for one in waits}
    missing = [one for one in waits if ids[one.pk] not in given]
    if missing:
        raise Refused(
            "interrupts_open",
            _("%(n)d of %(all)d open interrupts have no answer. Answer all of them.")
            % {"n": len(missing), "all": len(waits)},
        )
    if waits:
        caller.check_scope(Scope.APPROVE)
    return [_answer(caller, one, given[ids[one.pk]]) for one in waits]


def read_results(
    caller: Caller, run: "Run", results: dict[str, ToolMessage]
) -> list[FromPage]:
    """Return the results of calls that the client carries out, and still owes."""
    return [
        _result(caller, one, results[str(one.call_id)])
        for one in open_requests(run, of_client=True)
        if str(one.call_id) in results
    ]


def _answer(caller: Caller, interrupt: "Interrupt", entry: ResumeEntry) -> Answer:
    form = form_of(interrupt)
    said: dict[str, Any] = {"decision": form.left}
    if entry.status == "resolved":
        said = form.read(_checked(form.schema(interrupt), entry.payload))
    return Answer(
        user_id=caller.user.pk,
        interrupt_id=interrupt.pk,
        nonce=interrupt.nonce,
        stamp=caller.stamp,
        **said,
    )


def _checked(schema: Mapping[str, Any], payload: Any) -> dict[str, Any]:
    for fault in Draft202012Validator(schema).iter_errors(payload):
        where = ".".join(map(str, fault.path)) or "payload"
        raise Refused(
            "bad_payload",
            _("“%(where)s” of an answer is wrong: %(why)s.")
            % {"where": where, "why": fault.message[:200]},
        )
    return payload  # type: ignore[no-any-return]


def _result(caller: Caller, interrupt: "Interrupt", said: ToolMessage) -> FromPage:
    text = text_of(said)
    fault = said.error or ""
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
