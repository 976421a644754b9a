"""What the messages of a request say: the last wish, and what was done about it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Message = Mapping[str, Any]
FINDER = "find_tools"  # loads a tool that a page with many does not tell of
# In front of what code of the site has sent, and where earlier messages are left out.
NOTE = re.compile(r"^(?:\[[^\]]*\]\s*\n\n)+")
REMEMBERED = "What the user has had you remember."  # above such a list
FOLLOWUPS = "suggest_followups"  # comes along with an answer


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A tool call that is made, or was made."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """A call and its result, since the user last said something."""

    call: Call
    ok: bool
    data: Any = None
    error: str = ""
    error_type: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What is said, in the order of the fields."""

    reasoning: str = ""
    text: str = ""
    call: Call | None = None
    is_help: bool = False  # the text is the help, as far as the tools go


def last_wish(messages: Sequence[Message]) -> str:
    """Return what the user said last, or an empty text."""
    position = _last_user(messages)
    said = "" if position is None else _text(messages[position])
    return NOTE.sub("", said).strip()


def memories(messages: Sequence[Message]) -> list[str]:
    """Return what the system prompt says that was to be remembered."""
    for message in messages:
        _before, head, rest = _text(message).partition(REMEMBERED)
        if head and message.get("role") == "system":
            lines = rest.partition("\n\n")[0].splitlines()
            return [line[2:] for line in lines if line.startswith("- ")]
    return []


def outcomes(messages: Sequence[Message]) -> list[Outcome]:
    """Return what the tools answered since then, in order, without the finder."""
    return [one for one in _outcomes(messages) if one.call.name != FINDER]


def has_searched(messages: Sequence[Message], name: str) -> bool:
    """Tell whether the tool of that name was looked for since then."""
    wanted = finding(name).arguments
    return any(
        (one.call.name, one.call.arguments) == (FINDER, wanted)
        for one in _outcomes(messages)
    )


def finding(name: str) -> Call:
    """Return the call that loads the tool of that name."""
    return Call(name=FINDER, arguments={"query": name.replace("_", " ")})


def _outcomes(messages: Sequence[Message]) -> list[Outcome]:
    position = _last_user(messages)
    since = messages[0 if position is None else position + 1 :]
    calls = dict(_calls(since))
    return [
        _outcome(
            calls.get(message.get("tool_call_id", ""), Call(name="?")), _text(message)
        )
        for message in since
        if message.get("role") == "tool"
    ]


def before_interjection(messages: Sequence[Message]) -> list[Message] | None:
    """
    Return the messages without the last of the user, if that came amid a run.

    So it is when the user answers a tool's question, or denies a call, by writing
    a message: the result of the call stands right before it. Else None.
    """
    position = _last_user(messages)
    before = messages[position - 1] if position else {}
    if before.get("role") != "tool":
        return None
    call = dict(_calls(messages)).get(before["tool_call_id"])
    if position is None or (call is not None and call.name == FOLLOWUPS):
        return None  # which end an answer
    return [*messages[:position], *messages[position + 1 :]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Unfinished:
    """A wish whose answer was stopped, and what was said of that."""

    messages: list[Message]
    said: str


def before_go_on(messages: Sequence[Message]) -> Unfinished | None:
    """Return the wish before the last one, with what was said to it in the end."""
    position = _last_user(messages)
    before = None if position is None else _last_user(messages[:position])
    if position is None or before is None:
        return None
    ended, said = before + 1, ""
    for place in range(before + 1, position):
        one = messages[place]
        if one.get("role") != "assistant" or one.get("tool_calls"):
            ended, said = place + 1, ""
        else:
            said += _text(one)
    return Unfinished(messages=[*messages[:ended]], said=said)


def _last_user(messages: Sequence[Message]) -> int | None:
    for position in range(len(messages) - 1, -1, -1):
        if messages[position].get("role") == "user":
            return position
    return None


def _text(message: Message) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _calls(messages: Sequence[Message]) -> Iterator[tuple[str, Call]]:
    for message in messages:
        for call in message.get("tool_calls") or ():
            function = call["function"]
            arguments = _json(function.get("arguments") or "{}")
            yield (
                call["id"],
                Call(
                    name=function["name"],
                    arguments=arguments if isinstance(arguments, dict) else {},
                ),
            )


def _outcome(call: Call, content: str) -> Outcome:
    data = _json(content)
    if isinstance(data, dict) and data.get("ok") is False:
        return Outcome(
            call=call,
            ok=False,
            error=_error(data),
            error_type=str(data.get("error_type", "")),
        )
    return Outcome(call=call, ok=True, data=data)


def _error(data: dict[str, Any]) -> str:
    """Return what went wrong; of a rule of the site its reason as well."""
    error = str(data.get("error", ""))
    if data.get("error_type") != "policy":
        return error
    return f"{error} {data.get('suggestion', '')}".strip()


def _json(text: str) -> Any:
    """Return what `text` holds as JSON, or the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
