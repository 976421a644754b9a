"""The history that the model gets: the newest messages, calls and results that fit."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from ai_assistant import conf
from ai_assistant.engine.storage.branches import seen_by
from ai_assistant.engine.storage.fitting import (
    LEFT_OUT,
    Entry,
    Group,
    newest_that_fit,
    size_of,
    with_note,
    with_short_results,
)
from ai_assistant.engine.storage.rounds import is_over, result_note
from ai_assistant.engine.storage.summaries import note_of
from ai_assistant.engine.storage.told import (
    Called,
    Told,
    Window,
    calls_by_step,
    question_of,
    told,
    window_of,
    with_beginnings,
)
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run

SMALL_CHARS = 8_000  # a history that every model has room for
NO_RESULT = "(no result)"
# Models invent names of tools; a provider refuses a history that holds others.
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
FUNCTION_NAME_CHARS = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """A conversation as the model is told it, and whether to sum up the rest."""

    entries: list[Entry]
    wants_summary: bool = False
    summary: Told | None = None


def chat_messages(
    run: Run,
    said: list[Message] | None = None,
) -> list[Entry]:
    """Return the conversation up to now in the OpenAI chat form."""
    return read_history(run, seen_by(run)[0], said).entries


def read_history(
    run: Run,
    path: Sequence[UUID] | None,
    said: list[Message] | None = None,
    room: Callable[[], int] | None = None,
) -> History:
    """
    Return the conversation up to now, as far as it fits.

    `said` holds all its messages, if they are known and from persons alone.

    Of its branches only `path`, which is what `seen_by` returns first.
    The last HISTORY_MESSAGES messages behind the last summary, and of these the newest
    that fit into HISTORY_CHARS and what `room` says, which is asked of a long one. A
    call and its result are never parted.
    """
    window = Window(messages=[*map(told, said)]) if said else window_of(run, path)
    calls = {} if said else calls_by_step(window.messages)
    names = _CallNames()
    groups: list[Group] = []
    for message in window.messages:
        if message.role == Message.Role.USER:
            groups.append([{"role": "user", "content": message.text}])
        else:
            own = calls.get(message.step_id, [])
            since = window.rounds.get(message.run_id, 0) if own else 0
            groups.append(_assistant(message, own, names, since))
    kept = _that_fit(groups, room)
    dropped = window.messages[: len(groups) - len(kept)]
    left_out = window.left_out
    if dropped:
        left_out = max(dropped[-1].position, -1 if left_out is None else left_out)
    return History(
        entries=[
            entry for group in _begun(kept, window, run, left_out) for entry in group
        ],
        wants_summary=window.may_sum_up(left_out),
        summary=window.summary,
    )


def _that_fit(groups: list[Group], room: Callable[[], int] | None) -> list[Group]:
    most, size = int(conf.get("LIMITS", "HISTORY_CHARS")), sum(map(size_of, groups))
    if room is not None and size > SMALL_CHARS:
        most = min(most, room())
    return groups if size <= most else newest_that_fit(with_short_results(groups), most)


def _begun(
    kept: list[Group], window: Window, run: Run, left_out: int | None
) -> list[Group]:
    """Return what fits, from a question on, with notes on what stood before."""
    notes = [note_of(window.summary)] if window.summary is not None else []
    if left_out is not None:
        notes.append(LEFT_OUT)
    if not notes:
        return kept
    dropped = len(window.messages) - len(kept)
    told_here = islice(with_beginnings(window.messages), dropped, None)
    for index, (_message, begins) in enumerate(told_here):
        if begins:
            return [with_note(kept[index], *notes), *kept[index + 1 :]]
        if left_out is None:
            break  # nothing may be lost between the summary and the next question
    # Of one run more than fits: its question comes first.
    is_gapless = bool(window.messages[dropped:]) and left_out is None
    asked = question_of(window.messages[dropped].run_id if is_gapless else run.pk)
    question = [{"role": "user", "content": asked.text if asked else ""}]
    return [with_note(question, *notes), *kept]


def _assistant(
    message: Told, calls: list[Called], names: "_CallNames", since: int
) -> list[dict[str, Any]]:
    """Return a reply with its results, so many rounds later."""
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
            "content": _result(call, since),
        }
        for name, call in named
    ]
    return [entry, *results]


def _result(call: Called, since: int) -> str:
    if is_over(call.context_rounds, since):
        return result_note(call.context_rounds)
    return call.result_text or NO_RESULT


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
