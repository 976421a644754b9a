"""Messages that are still being written: what is known of each, and what is drawn."""

import time
from dataclasses import dataclass, field
from typing import Any

from django.utils.html import escape

from ai_assistant.engine.storage.eventlog import partial_texts, under_way
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run
from ai_assistant.render.html.fragments import fragment, part_html, with_buttons
from ai_assistant.render.html.transcript.entries import (
    Entry,
    message_parts,
    reasoning_part,
    shows_reasoning,
    text_part,
)
from ai_assistant.render.markdown import BlockChange, BlockStream

Op = list[Any]


@dataclass(kw_only=True, slots=True)
class Growing:
    """
    One growing message.

    `text` and `reasoning` are what is known, from rows and live frames alike;
    pieces say where they belong, so repeats and overlaps do no harm. Without
    `shows_reasoning` the reasoning is known and never drawn.
    """

    message_id: str
    text: str = ""
    reasoning: str = ""
    epoch: int = 0
    shows_reasoning: bool = True
    _stream: BlockStream = field(default_factory=BlockStream)
    _fed: int = 0  # characters of `text` given to the stream
    _text_drawn: bool = False
    _more_drawn: bool = False
    _reasoning_drawn: int = 0
    _reasoning_closed: bool = False
    _since: float = field(default_factory=time.monotonic)

    def known(self, *, reasoning: bool) -> int:
        """Return how many characters are known, of the text or the reasoning."""
        return len(self.reasoning if reasoning else self.text)

    def extend(self, piece: str, *, offset: int, reasoning: bool) -> bool:
        """Add a piece; False if it is known already, or if one before it is not."""
        known = self.known(reasoning=reasoning)
        if offset > known or offset + len(piece) <= known:
            return False
        if reasoning:
            self.reasoning += piece[known - offset :]
        else:
            self.text += piece[known - offset :]
        return True

    @property
    def pause_s(self) -> float:
        """Seconds that the renderer asks for between two looks at the text."""
        return self._stream.pause_s

    @property
    def work_chars(self) -> int:
        """How many characters the next rendering of the pending text has to process."""
        waiting = self.waiting_chars
        return waiting + self._stream.open_chars if waiting else 0

    @property
    def waiting_chars(self) -> int:
        """How much text has not been rendered yet."""
        return len(self.text) - self._fed

    def parts(self) -> list[Entry]:
        """Return the whole message for drawing; from here on `ops` returns the rest."""
        parts = []
        if self._fold:
            self._reasoning_drawn = len(self._fold)
            self._reasoning_closed = bool(self.text)
            parts.append(self._reasoning_part())
        if self.text:
            self._stream, self._fed = BlockStream(), 0
            self._more_drawn = False
            parts.append(self._text_part([change.html for change in self._changes()]))
            self._text_drawn = True
        return parts

    def ops(self, parent: str) -> list[Op]:
        """Return the operations since the last call, below the element `parent`."""
        return [*self._reasoning_ops(parent), *self._text_ops(parent)]

    def end_reasoning(self, parent: str) -> list[Op]:
        """Return what the end of the reasoning changes."""
        return [*self.ops(parent), *self._close_reasoning(parent)]

    def finish(self, parent: str) -> list[Op]:
        """Return what the end of the message changes."""
        ops = self.end_reasoning(parent)
        if self._text_drawn:
            ops += self._block_ops(self._stream.finish())
        return ops

    def settle(self, message: Message, parent: str) -> list[Op]:
        """Return the operations after which the page shows the stored message."""
        is_whole = self.text == message.text
        ops = self.finish(parent) if is_whole else self.remove()
        for part in message_parts(message, {}, reasoning=self.shows_reasoning):
            if part["kind"] == "reasoning" or not is_whole:
                ops.append(["upsert", parent, part_html(part, None)])
        return ops

    def remove(self) -> list[Op]:
        """Return how the message is taken off the page."""
        return [
            ["delete", f"m-{self.message_id}", ""],
            ["delete", f"t-{self.message_id}", ""],
        ]

    @property
    def _fold(self) -> str:
        """The reasoning as far as it is drawn."""
        return self.reasoning if self.shows_reasoning else ""

    def _changes(self) -> list[BlockChange]:
        self._stream.feed(self.text[self._fed :])
        self._fed = len(self.text)
        return self._stream.changes()

    def _text_ops(self, parent: str) -> list[Op]:
        if not self.waiting_chars:
            return []
        ops: list[Op] = []
        if not self._text_drawn:
            self._text_drawn = True
            ops.append(["upsert", parent, part_html(self._text_part([]), None)])
        return ops + self._block_ops(self._changes()) + self._more_ops()

    def _block_ops(self, changes: list[BlockChange]) -> list[Op]:
        target = f"m-{self.message_id}"
        return [
            ["grow", f"{target}-b{change.index}", with_buttons(change.html)]
            for change in changes
        ]

    def _more_ops(self) -> list[Op]:
        """Return where the rest is, once there is one."""
        if self._more_drawn or not self._stream.is_cut:
            return []
        self._more_drawn = True
        part = {"message_id": self.message_id}
        return [["upsert", f"m-{self.message_id}", fragment("text_more", part=part)]]

    def _reasoning_ops(self, parent: str) -> list[Op]:
        ops: list[Op] = []
        new = self._fold[self._reasoning_drawn :]
        if new and not self._reasoning_drawn:
            ops.append(["upsert", parent, self._reasoning_html()])
            ops += self._below()
        elif new:
            ops.append(["grow", f"t-{self.message_id}-text", escape(new)])
        self._reasoning_drawn = len(self._fold)
        return ops + (self._close_reasoning(parent) if self.text else [])

    def _close_reasoning(self, parent: str) -> list[Op]:
        if not self._fold or self._reasoning_closed:
            return []
        self._reasoning_closed = True
        return [["upsert", parent, self._reasoning_html()]]

    def _below(self) -> list[Op]:
        """Return how text that came first gets below its reasoning: it is redrawn."""
        if not self._text_drawn:
            return []
        self._text_drawn, self._stream, self._fed = False, BlockStream(), 0
        self._more_drawn = False
        return [["delete", f"m-{self.message_id}", ""]]

    def _reasoning_html(self) -> str:
        return fragment("reasoning", part=self._reasoning_part())

    def _reasoning_part(self) -> Entry:
        return reasoning_part(
            self.message_id,
            self._fold,
            done=self._reasoning_closed,
            seconds=time.monotonic() - self._since,
        )

    def _text_part(self, blocks: list[str]) -> Entry:
        self._more_drawn = bool(blocks) and self._stream.is_cut
        return text_part(
            self.message_id, blocks, complete=False, is_cut=self._more_drawn
        )


def read_growing(
    run: Run, messages: list[Message]
) -> tuple[dict[str, Growing], list[Entry]]:
    """
    Return the messages of an unfinished run that are not stored yet.

    And the part that says that the conversation is being summed up, if it is.
    """
    if run.is_final:
        return {}, []
    known = {str(message.pk) for message in messages}
    growing = {}
    begun, is_summing = under_way(run.pk, known)
    for message_id in begun:
        text, reasoning = partial_texts(run.pk, message_id)
        growing[message_id] = Growing(
            message_id=message_id,
            text=text,
            reasoning=reasoning,
            shows_reasoning=shows_reasoning(run),
        )
    summing = {"kind": "summing", "id": f"r-{run.pk}-summing"}
    return growing, [summing] if is_summing else []
