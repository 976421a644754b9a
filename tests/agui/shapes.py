"""The shapes of AG-UI 1.0: what each event may hold. Returns a sentence per fault."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

Kind = Callable[[Any, str], Iterator[str]]  # (value, where it stands) -> faults


def shape_faults(event: Mapping[str, Any], *, is_new: bool = True) -> list[str]:
    """Return what is wrong in an event; `is_new`: the client speaks 1.0 or later."""
    kind = event.get("type")
    if kind not in EVENTS:
        return [f"{kind!r} is no type of the protocol"]
    found = list(EVENTS[kind](event, str(kind)))
    return found if is_new else found + list(_too_new(event))


def _too_new(event: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a 0.0.59 client dies of."""
    outcome = event.get("outcome")
    if isinstance(outcome, dict):
        if outcome.get("type") == "cancelled":
            yield "outcome cancelled for an old client"
        if "pendingToolCallIds" in outcome:
            yield "pendingToolCallIds for an old client"
    if event["type"] == "TOOL_CALL_RESULT" and not isinstance(event["content"], str):
        yield "a result in parts for an old client"


def text(value: Any, where: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{where} is no text: {value!r}"


def name(value: Any, where: str) -> Iterator[str]:
    if not isinstance(value, str) or not value:
        yield f"{where} is no name: {value!r}"


def whole(value: Any, where: str) -> Iterator[str]:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        yield f"{where} is no whole number: {value!r}"


def flag(value: Any, where: str) -> Iterator[str]:
    if not isinstance(value, bool):
        yield f"{where} is neither true nor false: {value!r}"


def thing(value: Any, where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where} is no object: {value!r}"


def anything(_value: Any, _where: str) -> Iterator[str]:
    yield from ()


def moment(value: Any, where: str) -> Iterator[str]:
    try:
        is_aware = datetime.fromisoformat(value).tzinfo is not None
    except (TypeError, ValueError):
        is_aware = False
    if not is_aware:
        yield f"{where} is no moment with a zone: {value!r}"


def just(*values: str) -> Kind:
    def check(value: Any, where: str) -> Iterator[str]:
        if value not in values:
            yield f"{where} is {value!r}, none of {values}"

    return check


def many(kind: Kind, least: int = 0) -> Kind:
    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, list) or len(value) < least:
            yield f"{where} is no list of {least} or more: {value!r}"
            return
        for number, one in enumerate(value):
            yield from kind(one, f"{where}.{number}")

    return check


def text_or(kind: Kind) -> Kind:
    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield from kind(value, where)

    return check


def record(needed: Mapping[str, Kind], /, **optional: Kind) -> Kind:
    """Return a kind of object: no other members, no null in place of a missing one."""
    known = {**needed, **optional}

    def check(value: Any, where: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{where} is no object: {value!r}"
            return
        for member in needed:
            if member not in value:
                yield f"{where} lacks “{member}”"
        for member, held in value.items():
            if member not in known:
                yield f"{where} holds “{member}”, which the protocol does not define"
            elif held is None and known[member] is not anything:
                yield f"{where}.{member} is null; leave it out"
            else:
                yield from known[member](held, f"{where}.{member}")

    return check


def by(member: str, kinds: Mapping[str, Kind]) -> Kind:
    def check(value: Any, where: str) -> Iterator[str]:
        own = value.get(member) if isinstance(value, dict) else None
        if own not in kinds:
            yield f"{where}.{member} is {own!r}"
            return
        yield from kinds[own](value, where)

    return check


# --- messages ---

SOURCE = by(
    "type",
    {
        "data": record({"type": text, "value": text, "mimeType": name}),
        "url": record({"type": text, "value": name}, mimeType=name),
        "file": record({"type": text, "value": name}, provider=name, mimeType=name),
    },
)
_media = record({"type": text, "source": SOURCE}, id=name, metadata=thing)
PART = by(
    "type",
    {
        "text": record({"type": text, "text": text}, id=name, metadata=thing),
        **dict.fromkeys(("image", "audio", "video", "document"), _media),
    },
)
CONTENT = text_or(many(PART))
CALL = record(
    {
        "id": name,
        "type": just("function"),
        "function": record({"name": name, "arguments": text}),
    },
    encryptedValue=text,
    metadata=thing,
)
_base = {"metadata": thing, "subagentRunId": name}
_said = {**_base, "name": name, "encryptedValue": text}
MESSAGE = by(
    "role",
    {
        "developer": record({"id": name, "role": text, "content": text}, **_said),
        "system": record({"id": name, "role": text, "content": text}, **_said),
        "user": record({"id": name, "role": text, "content": CONTENT}, **_said),
        "assistant": record(
            {"id": name, "role": text}, content=text, toolCalls=many(CALL), **_said
        ),
        "tool": record(
            {"id": name, "role": text, "toolCallId": name, "content": CONTENT},
            error=text,
            encryptedValue=text,
            **_base,
        ),
        "reasoning": record(
            {"id": name, "role": text, "content": text}, encryptedValue=text, **_base
        ),
        "activity": record(
            {"id": name, "role": text, "activityType": name, "content": thing}, **_base
        ),
    },
)

# --- ends ---

INTERRUPT = record(
    {"id": name, "reason": name},
    message=text,
    toolCallId=name,
    responseSchema=thing,
    expiresAt=moment,
    metadata=thing,
    subagentRunId=name,
)
OUTCOME = by(
    "type",
    {
        "success": record({"type": text}, pendingToolCallIds=many(name)),
        "interrupt": record({"type": text, "interrupts": many(INTERRUPT, 1)}),
        "cancelled": record({"type": text}),
    },
)
SUSPENDED = by(
    "type",
    {
        "success": record({"type": text}),
        "suspended": record({"type": text}, interruptIds=many(name)),
    },
)
_counts = dict.fromkeys(
    (
        *("inputTokens", "outputTokens", "totalTokens", "reasoningTokens"),
        *("cachedInputTokens", "cacheWriteInputTokens"),
    ),
    whole,
)
USAGE = many(record({}, provider=name, model=name, **_counts), 1)

# --- events ---


def _event(optional: Mapping[str, Kind] | None = None, /, **needed: Kind) -> Kind:
    common = {"timestamp": whole, "rawEvent": anything, "metadata": thing}
    return record({"type": text, **needed}, **common, **(optional or {}))


_sub: dict[str, Kind] = {"subagentRunId": name}
EVENTS: dict[str, Kind] = {
    "RUN_STARTED": _event(
        {"protocolVersion": name, "parentRunId": name, "input": thing},
        threadId=name,
        runId=name,
    ),
    "RUN_FINISHED": _event(
        {"outcome": OUTCOME, "result": anything, "usage": USAGE},
        threadId=name,
        runId=name,
    ),
    "RUN_ERROR": _event({"code": name, "usage": USAGE}, message=name),
    "STEP_STARTED": _event(_sub, stepName=name),
    "STEP_FINISHED": _event(_sub, stepName=name),
    "TEXT_MESSAGE_START": _event(
        {
            **_sub,
            "name": name,
            "role": just("developer", "system", "assistant", "user"),
        },
        messageId=name,
    ),
    "TEXT_MESSAGE_CONTENT": _event(_sub, messageId=name, delta=text),
    "TEXT_MESSAGE_END": _event(_sub, messageId=name),
    "TOOL_CALL_START": _event(
        {**_sub, "parentMessageId": name}, toolCallId=name, toolCallName=name
    ),
    "TOOL_CALL_ARGS": _event(_sub, toolCallId=name, delta=text),
    "TOOL_CALL_END": _event(_sub, toolCallId=name),
    "TOOL_CALL_RESULT": _event(
        {**_sub, "role": just("tool")}, messageId=name, toolCallId=name, content=CONTENT
    ),
    "STATE_SNAPSHOT": _event(_sub, snapshot=anything),
    "STATE_DELTA": _event(_sub, delta=many(thing)),
    "MESSAGES_SNAPSHOT": _event(messages=many(MESSAGE)),
    "ACTIVITY_SNAPSHOT": _event(
        {**_sub, "replace": flag}, messageId=name, activityType=name, content=thing
    ),
    "ACTIVITY_DELTA": _event(
        _sub, messageId=name, activityType=name, patch=many(thing)
    ),
    "REASONING_START": _event(_sub, messageId=name),
    "REASONING_END": _event(_sub, messageId=name),
    "REASONING_MESSAGE_START": _event(_sub, messageId=name, role=just("reasoning")),
    "REASONING_MESSAGE_CONTENT": _event(_sub, messageId=name, delta=text),
    "REASONING_MESSAGE_END": _event(_sub, messageId=name),
    "REASONING_ENCRYPTED_VALUE": _event(
        _sub,
        subtype=just("message", "tool-call"),
        entityId=name,
        encryptedValue=text,
    ),
    "SUBAGENT_STARTED": _event(
        {
            "description": text,
            **dict.fromkeys(
                ("parentSubagentRunId", "parentToolCallId", "parentMessageId"), name
            ),
        },
        subagentRunId=name,
        name=name,
    ),
    "SUBAGENT_FINISHED": _event(
        {"result": anything, "outcome": SUSPENDED}, subagentRunId=name
    ),
    "SUBAGENT_ERROR": _event({"code": name}, subagentRunId=name, message=name),
    "CUSTOM": _event(_sub, name=name, value=anything),
    "RAW": _event({**_sub, "source": name}, event=anything),
}
