"""
A shared conversation as a colleague sees it: with their own rights, nothing to press.

What persons and the assistant have said is shown; what tools and changes say of rows,
as `cards.seen` has it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _

from ai_assistant.engine.intake.retries import beginning
from ai_assistant.engine.storage.branches import tree_of
from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.run import Run, RunKind, RunState
from ai_assistant.render.html.cards.interrupts import answers_of
from ai_assistant.render.html.cards.seen import SeenRows
from ai_assistant.render.html.cards.without_card import has_card
from ai_assistant.render.html.transcript.entries import (
    Entry,
    Kin,
    call_facts,
    kin_of,
    user_entry,
)
from ai_assistant.render.html.transcript.groups import grouped
from ai_assistant.render.html.transcript.thread import (
    Calls,
    mark_days,
    rows_of_runs,
    stored_runs,
    time_before,
)
from ai_assistant.render.markdown import parts_of, render
from ai_assistant.tools.ask_user import is_ask_user

DRAWN_RUNS = 100
# What a card says that is about no row.
FACTS = (
    *("id", "name", "label", "icon", "effect", "status", "is_open", "reason"),
    *("approved", "seconds", "started_at", "finished_at"),
)


@dataclass(kw_only=True, slots=True)
class SharedThread:
    """What `shared_page.html` draws of a conversation."""

    title: str
    by: str  # who shares it
    entries: list[Entry] = field(default_factory=list)
    earlier: str = ""  # the first run drawn, if there are some above it


def read_shared(
    conversation: Conversation, user: Any, before: UUID | None = None
) -> SharedThread:
    """Return the last DRAWN_RUNS of a conversation for `user`, or those above a run."""
    path = tree_of(conversation).path
    end = path.index(before) if before in path else len(path)
    first = beginning(path, max(0, end - DRAWN_RUNS))
    shown = stored_runs(path[first:end])
    rows = rows_of_runs(shown)
    calls = [call for _run, _messages, own in rows for call in own.values()]
    drawing = _Drawing(
        SeenRows(user, path[first:end], calls), conversation.owner.get_username()
    )
    thread = SharedThread(title=conversation.title, by=drawing.owner)
    thread.entries = [entry for one in rows for entry in drawing.entries(*one)]
    thread.earlier = str(path[first]) if first else ""
    mark_days(thread.entries, time_before(conversation, shown))
    return thread


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Draws runs for one reader."""

    seen: SeenRows
    owner: str

    def entries(
        self, run: Run, messages: list[Message], calls: Calls
    ) -> Iterator[Entry]:
        """Yield the question of a run, unless it only continues, and the answer."""
        asked, rest = messages[:1], messages[1:]
        if run.kind != RunKind.CONTINUE:
            yield from map(self._said, filter(_is_of_person, asked))
        kin = kin_of(calls.values())
        parts = [part for one in rest for part in self._parts(one, calls, kin)]
        changes, is_more = self.seen.changed(run.pk)
        yield {
            "kind": "run",
            "run_id": str(run.pk),
            "parts": grouped(parts),
            "changes": changes,
            "withheld": is_more,
            "end": _end(run),
        }

    def _said(self, message: Message) -> Entry:
        said = user_entry(message)
        return {**said, "command": {}, "key": "", "by": said["by"] or self.owner}

    def _parts(self, message: Message, calls: Calls, kin: Kin) -> Iterator[Entry]:
        if message.role == Message.Role.USER:
            if _is_of_person(message):
                yield {**self._said(message), "kind": "said"}
            return
        for part in message.parts:
            if part["type"] == "text":
                yield _text(message, part["text"])
                continue
            call = calls.get(UUID(part["call_id"])) if part["type"] == "call" else None
            if call is not None and has_card(call.name):
                yield {"kind": "tool", "call": self._card(call, kin)}

    def _card(self, call: ToolCall, kin: Kin) -> Entry:
        facts = call_facts(call)
        shown = {**self.seen.result(call), **self.seen.decision(call)}
        if is_ask_user(call.name):
            shown["answers"] = answers_of(call)
        return {
            **{name: facts[name] for name in FACTS},
            **shown,
            "is_shared": True,
            "withheld": not (shown or call.is_open),
            "children": [self._card(child, kin) for child in kin.get(call.pk, ())],
        }


def _is_of_person(message: Message) -> bool:
    """Return whether a person has written it, or pressed a button for it."""
    is_of_site = message.origin == Message.Origin.HOOK
    return message.role == Message.Role.USER and not is_of_site


def _text(message: Message, text: str) -> Entry:
    """Return what `text_part.html` draws of a text: all of it, without buttons."""
    blocks = [html for part in parts_of(text) for html in render(part)]
    return {
        "kind": "text",
        "message_id": str(message.pk),
        # Escaped and allow-listed by render.markdown.
        "blocks": [mark_safe(html) for html in blocks],  # noqa: S308
        "complete": True,
    }


def _end(run: Run) -> str:
    """Return in a sentence how a run ended, or that it has not; empty if it is done."""
    if run.state == RunState.SUCCEEDED:
        return ""
    if not run.is_final:
        return _("This answer is not finished yet.")
    if run.state == RunState.CANCELLED:
        return _("Stopped")
    return _("This answer was not finished.")
