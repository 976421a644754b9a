"""
A conversation as a text: what the panel shows of it, without its branches.

Of a tool call only the line of its card: name, outcome, time.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.timezone import is_aware, localtime
from django.utils.translation import gettext as _

from ai_assistant.engine.intake.retries import whole_answer
from ai_assistant.engine.storage.branches import path_of
from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import Run
from ai_assistant.render.html.cards.without_card import has_card

Entry = dict[str, Any]
ROOM = 500  # runs that are read at a time


def as_json(conversation: Conversation) -> str:
    """Return the conversation as JSON: its names, times, and entries in order."""
    told = {
        "id": str(conversation.pk),
        "title": conversation.title,
        "created_at": conversation.created_at.isoformat(),
        "entries": list(_entries(conversation)),
    }
    return json.dumps(told, ensure_ascii=False, indent=2) + "\n"


def as_markdown(conversation: Conversation) -> str:
    """Return the conversation as Markdown, each entry under a heading."""
    title = conversation.title or _("Untitled conversation")
    blocks = [f"# {title}"]
    for entry in _entries(conversation):
        who = _("You") if entry["role"] == Message.Role.USER else _("Assistant")
        if entry["of_code"]:
            who = _("Code of this site")
        blocks.append(f"## {who}, {_moment(entry['created_at'])}")
        if entry["text"].strip():
            blocks.append(entry["text"].strip())
        if lines := [_line(call) for call in entry["calls"] if has_card(call["tool"])]:
            blocks.append("\n".join(lines))
        if entry["error"]:
            blocks.append(f"> {entry['error']}")
    return "\n\n".join(blocks) + "\n"


def answer_as_markdown(run: Run) -> str:
    """
    Return what the assistant said in a run, as it wrote it, without its calls.

    If the run continues a cut answer, the earlier parts are included.
    """
    messages = Message.objects.filter(run_id__in=whole_answer(run))
    messages = messages.filter(role=Message.Role.ASSISTANT).order_by("position")
    texts = (message.text.strip() for message in messages)
    return "\n\n".join(text for text in texts if text)


def _entries(conversation: Conversation) -> Iterator[Entry]:
    """Yield what was said: each question, and the whole answer of its run."""
    path = path_of(conversation)
    for start in range(0, len(path), ROOM):
        yield from _entries_of(path[start : start + ROOM])


def _entries_of(path: list[UUID]) -> Iterator[Entry]:
    runs = Run.objects.in_bulk(path)
    messages: dict[UUID, list[Message]] = {}
    for message in Message.objects.filter(run_id__in=path).order_by("position"):
        messages.setdefault(message.run_id, []).append(message)
    calls: dict[UUID, list[Entry]] = {}
    for call in _calls(path):
        calls.setdefault(call.run_id, []).append(_call(call))
    for pk in path:
        if pk in runs:
            yield from _entries_of_run(
                runs[pk], messages.get(pk, []), calls.get(pk, [])
            )


def _calls(path: list[UUID]) -> Iterator[ToolCall]:
    own = ToolCall.objects.filter(run_id__in=path, parent=None)
    fields = ("run", "name", "label", "status", "error")
    times = ("created_at", "started_at", "finished_at")
    return own.only(*fields, *times).order_by("step__index", "position").iterator()


def _entries_of_run(
    run: Run, messages: list[Message], calls: list[Entry]
) -> Iterator[Entry]:
    said = [one for one in messages if one.role == Message.Role.ASSISTANT]
    for message in messages:
        if message.role == Message.Role.USER:
            yield {
                **_entry(message.role, message.created_at),
                "text": message.typed,
                "of_code": message.origin == Message.Origin.CODE,
            }
    texts = [one.text.strip() for one in said if one.text.strip()]
    yield {
        **_entry(
            Message.Role.ASSISTANT, said[-1].created_at if said else run.created_at
        ),
        "text": "\n\n".join(texts),
        "calls": calls,
        "state": str(run.state),
        "error": run.error_text,
    }


def _entry(role: str, moment: datetime) -> Entry:
    return {
        "role": str(role),
        "created_at": moment.isoformat(),
        "of_code": False,
        "text": "",
        "calls": [],
        "error": "",
    }


def _call(call: ToolCall) -> Entry:
    return {
        "tool": call.name,
        "label": " ".join((call.label or call.name).split()),
        "status": str(call.status),
        "seconds": None if call.worked_s is None else round(call.worked_s, 1),
    }


def _line(call: Entry) -> str:
    took = "" if call["seconds"] is None else f", {call['seconds']:g} s"
    return f"- {call['label']}: {call['status']}{took}"


def _moment(said: str) -> str:
    moment = datetime.fromisoformat(said)
    there = localtime(moment) if is_aware(moment) else moment
    return f"{there:%Y-%m-%d %H:%M}"
