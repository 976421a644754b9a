"""The history that the model gets: the newest messages, calls and results that fit."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from ai_assistant import conf
from ai_assistant.engine.storage.branches import seen_by
from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Message, text_of
from ai_assistant.models.run import Run

Entry = dict[str, Any]  # a message in the OpenAI chat form
Group = list[Entry]  # what must not be parted: a reply with the results of its calls

LEFT_OUT = "[Earlier messages of this conversation are left out here.]"
CUT = "[cut: {most} of {total} characters fit here.]"


def newest_that_fit(groups: list[Group], most: int) -> list[Group]:
    """
    Return the last of `groups` that have at most `most` characters together.

    The last one is always there; if it alone is too large, the results in it are
    cut.
    """
    kept: list[Group] = []
    left = most
    for group in reversed(groups):
        size = _size(group)
        if kept and size > left:
            break
        kept.append(group if size <= left else _cut(group, most))
        left -= size
    return kept[::-1]


def with_note(group: Group) -> Group:
    """Return the person's words with a note that there were others before."""
    first, *rest = group
    return [{**first, "content": f"{LEFT_OUT}\n\n{first['content']}"}, *rest]


def _size(group: Group) -> int:
    return sum(len(entry.get("content") or "") + _called(entry) for entry in group)


def _called(entry: Entry) -> int:
    calls = entry.get("tool_calls", ())
    return sum(len(call["function"]["arguments"]) for call in calls)


def _cut(group: Group, most: int) -> Group:
    """Return a reply with its results, each of them cut to an equal share."""
    results = [entry for entry in group if entry["role"] == "tool"]
    if not results:
        return group
    rest = most - _size([entry for entry in group if entry["role"] != "tool"])
    share = max(rest, 0) // len(results)
    return [
        {**entry, "content": _short(entry["content"], share)}
        if entry["role"] == "tool"
        else entry
        for entry in group
    ]


def _short(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n{CUT.format(most=most, total=len(text))}"


NO_RESULT = "(no result)"
# Models invent names of tools; a provider refuses a history that holds others.
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
FUNCTION_NAME_CHARS = 64


class Told(NamedTuple):
    """What of a message, and of its step, the model is told."""

    run_id: UUID
    role: str
    text: str
    position: int
    step_id: int | None = None
    provider_fields: dict[str, Any] | None = None


class Called(NamedTuple):
    """What of a call and its result the model is told."""

    pk: UUID
    provider_id: str
    name: str
    arguments: Any
    provider_fields: dict[str, Any]
    result_text: str


def chat_messages(
    run: Run,
    path: Sequence[UUID] | None = None,
    said: list[Message] | None = None,
) -> list[dict[str, Any]]:
    """
    Return the conversation up to now in the OpenAI chat form.

    `said` holds all its messages, if they are known and from persons alone.

    Of its branches only `path`, the runs up to this one; without it they are looked up.
    The last HISTORY_MESSAGES messages, and of these the newest that
    fit into HISTORY_CHARS, beginning with the question of a run; a call and its result
    are never parted.
    """
    messages = [_told(one) for one in said] if said else _recent(run, path)
    calls = {} if said else _calls_by_step(messages)
    names = _CallNames()
    groups: list[Group] = []
    for message in messages:
        if message.role == Message.Role.USER:
            groups.append([{"role": "user", "content": message.text}])
        else:
            own = calls.get(message.step_id, [])
            groups.append(_assistant(message, own, names))
    begins = [begins for _message, begins in _with_beginnings(messages)]
    return [entry for group in _fitting(groups, begins, run) for entry in group]


def _told(message: Message) -> Told:
    return Told(message.run_id, message.role, message.text, message.position)


def _recent(run: Run, path: Sequence[UUID] | None) -> list[Told]:
    most = int(conf.get("LIMITS", "HISTORY_MESSAGES"))
    seen = seen_by(run, most)[0] if path is None else path
    # Each run has a message at least: no more of them are needed than messages.
    told = Message.objects.filter(
        conversation_id=run.conversation_id, run_id__in=seen[-most:]
    ).order_by("-position")
    # By columns: to make an object of each row costs as much as all the rest. One more
    # than is told says whether the first one begins its run.
    rows = told.values_list(
        *("run_id", "role", "parts", "position", "step", "step__provider_fields")
    )[: most + 1]
    recent = [
        Told(run_id, role, text_of(parts), *others)
        for run_id, role, parts, *others in rows
    ]
    earlier = recent[most].run_id if len(recent) > most else None
    return _from_question_on(recent[:most][::-1], run, earlier)


def question_of(run: Run) -> Message | None:
    """Return the message that the run answers."""
    said = Message.objects.filter(run=run, role=Message.Role.USER)
    return said.order_by("position").first()


def _fitting(groups: list[Group], begins: list[bool], run: Run) -> list[Group]:
    """
    Return what fits, from the question of a run on, with a note if that is not all.

    `begins` says of each group whether it is one.
    """
    kept = newest_that_fit(groups, int(conf.get("LIMITS", "HISTORY_CHARS")))
    if len(kept) == len(groups):
        return kept
    for index, begins_run in enumerate(begins[len(groups) - len(kept) :]):
        if begins_run:
            return [with_note(kept[index]), *kept[index + 1 :]]
    # Of one run more than fits: its question comes first.
    asked = question_of(run)
    question = [{"role": "user", "content": asked.text if asked else ""}]
    return [with_note(question), *kept]


def _from_question_on(
    messages: list[Told], run: Run, earlier: UUID | None
) -> list[Told]:
    """Return them from the first question on; `earlier` is the run before them."""
    for index, (_message, begins) in enumerate(_with_beginnings(messages, earlier)):
        if begins:
            return messages[index:]
    # One run with more messages than the window: its question comes first.
    asked = question_of(run)
    return [_told(asked), *messages] if asked else messages


def _with_beginnings(
    messages: list[Told], earlier: UUID | None = None
) -> Iterator[tuple[Told, bool]]:
    """Yield each message, and whether its run begins with it."""
    before = earlier
    for message in messages:
        is_user = message.role == Message.Role.USER
        yield message, is_user and message.run_id != before
        before = message.run_id


def _calls_by_step(messages: list[Told]) -> dict[int | None, list[Called]]:
    steps = [one.step_id for one in messages if one.step_id is not None]
    own = ToolCall.objects.filter(step_id__in=steps, parent=None).order_by("position")
    calls: dict[int | None, list[Called]] = {}
    for step_id, *columns in own.values_list("step_id", *Called._fields):
        calls.setdefault(step_id, []).append(Called(*columns))
    return calls


def _assistant(
    message: Told, calls: list[Called], names: "_CallNames"
) -> list[dict[str, Any]]:
    if not calls and not message.text:
        return []
    entry: dict[str, Any] = {
        **(message.provider_fields or {}),
        "role": "assistant",
        "content": message.text or None,
    }
    if not calls:
        return [entry]
    named = [(names.of(call), call) for call in calls]
    entry["tool_calls"] = [_tool_call(name, call) for name, call in named]
    results = [
        {
            "role": "tool",
            "tool_call_id": name,
            "content": call.result_text or NO_RESULT,
        }
        for name, call in named
    ]
    return [entry, *results]


def _tool_call(name: str, call: Called) -> dict[str, Any]:
    return {
        **call.provider_fields,
        "id": name,
        "type": "function",
        "function": {
            "name": NOT_IN_NAMES.sub("_", call.name)[:FUNCTION_NAME_CHARS] or "_",
            # Unparsable text goes back as an empty object; its result says why.
            "arguments": json.dumps(call.arguments, ensure_ascii=False),
        },
    }


class _CallNames:
    """Gives each call an id: the provider's own, unless it came before."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def of(self, call: Called) -> str:
        name = call.provider_id
        if not name or name in self._seen:
            name = f"call_{call.pk.hex[:24]}"
        self._seen.add(name)
        return name
