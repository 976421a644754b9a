"""The texts of a run and the cards of its calls while the model writes them."""

from typing import Any
from uuid import UUID

from pydantic_core import from_json

from ai_assistant.engine.storage.eventlog import StoredEvent
from ai_assistant.models.conversation import Message
from ai_assistant.render.html.cards.without_card import has_card
from ai_assistant.render.html.fragments import part_html
from ai_assistant.render.html.transcript.entries import draft_entry
from ai_assistant.render.html.transcript.growing import Growing, Op
from ai_assistant.render.html.transcript.thread import Drawn

Key = tuple[str, int]  # message and position


class LiveTexts:
    """
    The drafts that one page shows, until their messages are stored or dropped.

    A frame holds all that is known of a call, so that one that is lost, repeated or
    late does no harm: the longest counts.
    """

    def __init__(self) -> None:
        self._known: dict[Key, dict[str, Any]] = {}  # the longest frame of each
        self._news: dict[Key, None] = {}

    @property
    def has_news(self) -> bool:
        """Whether there is something to draw."""
        return bool(self._news)

    def knows(self, frame: dict[str, Any]) -> bool:
        """Return whether the card is on the page already, or will never be."""
        return _key(frame) in self._known or not has_card(frame["name"])

    def take(self, frame: dict[str, Any]) -> bool:
        """Take a frame; True if there is something new to show."""
        key = _key(frame)
        known = self._known.get(key)
        if not has_card(frame["name"]):
            return False
        if known and len(known["arguments"]) >= len(frame["arguments"]):
            return False
        self._known[key] = frame
        self._news[key] = None
        return True

    def ops(self, parent: str, panel: Any) -> list[Op]:
        """Return the operations that draw news below `parent`. Renders templates."""
        newest = max((frame["epoch"] for frame in self._known.values()), default=0)
        old = self.drop(before=newest)
        news, self._news = self._news, {}
        return old + [
            ["upsert", parent, part_html(_part(self._known[key]), panel)]
            for key in news
            if key in self._known
        ]

    def drop(self, message_id: str = "", *, before: int = 0) -> list[Op]:
        """Take off those of a message, those of an earlier epoch, or all."""
        everything = not message_id and not before
        gone = [
            key
            for key, frame in self._known.items()
            if everything or key[0] == message_id or frame["epoch"] < before
        ]
        for key in gone:
            del self._known[key]
            self._news.pop(key, None)
        return [["delete", f"c-{_card_id(key)}", ""] for key in gone]


def _key(frame: dict[str, Any]) -> Key:
    return frame["message"], frame["position"]


def _card_id(key: Key) -> str:
    return f"{key[0]}-{key[1]}"


def _part(frame: dict[str, Any]) -> dict[str, Any]:
    call = draft_entry(_card_id(_key(frame)), frame["name"], partial_arguments(frame))
    return {"kind": "tool", "call": call}


def partial_arguments(frame: dict[str, Any]) -> dict[str, Any]:
    """Return what can be read of arguments that end anywhere. Only for showing."""
    try:
        found = from_json(
            frame["arguments"], allow_partial="trailing-strings", allow_inf_nan=False
        )
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


class Texts:
    """
    The messages of one run that grow, and those that grow no more.

    Rows are the truth; a live frame may be lost, repeated, late, or come from a
    process that has lost the run, and then changes nothing for good.
    """

    def __init__(self) -> None:
        self.parent = ""  # the element that holds the parts of the run
        self.epoch = 0
        self.shows_reasoning = True
        self.is_behind = False  # a live frame was ahead of what is known
        self.growing: dict[str, Growing] = {}
        self._done: set[str] = set()
        self._unsettled: dict[str, Growing] = {}  # done, and not yet seen stored

    def restart(self, parent: str, drawn: Drawn, epoch: int) -> None:
        """Continue from a conversation that was drawn whole."""
        self.parent, self.epoch, self.growing = parent, epoch, drawn.growing
        self.shows_reasoning = drawn.shows_reasoning
        self._done.update(drawn.stored)
        self._unsettled.clear()
        for growing in self.growing.values():
            growing.epoch = epoch

    def knows(self, message_id: str) -> bool:
        """Return whether the message was begun here; its place is then settled."""
        return message_id in self.growing or message_id in self._done

    def has_done(self, message_id: str) -> bool:
        """Return whether the message grows no more: it is stored, or dropped."""
        return message_id in self._done

    # --- live ---

    def take(self, frame: dict[str, Any]) -> bool:
        """Take a piece of live text; True if there is something new to show."""
        message_id = frame["message"]
        if frame["epoch"] < self.epoch or message_id in self._done:
            return False
        growing = self.growing.get(message_id)
        if growing is None:
            if frame["offset"] > 0:
                self.is_behind = True  # the rows will show it
                return False
            growing = self._begin(message_id, frame["epoch"])
        reasoning = frame["reasoning"]
        if frame["offset"] > growing.known(reasoning=reasoning):
            self.is_behind = True
        return growing.extend(
            frame["text"], offset=frame["offset"], reasoning=reasoning
        )

    def ops(self) -> list[Op]:
        """Return how the texts have grown since the last call."""
        newest = max((growing.epoch for growing in self.growing.values()), default=0)
        ops = self.drop_before(newest)
        for growing in self.growing.values():
            ops += growing.ops(self.parent)
        return ops

    @property
    def waiting_chars(self) -> int:
        """How much text is gone through when what waits is rendered."""
        return sum(growing.work_chars for growing in self.growing.values())

    @property
    def pause_s(self) -> float:
        """How long to wait between two looks: longer while a block is long."""
        return max((growing.pause_s for growing in self.growing.values()), default=0.0)

    # --- from the rows ---

    def follow(self, event: StoredEvent) -> list[Op]:
        """Return what an event of a text or of reasoning changes."""
        message_id = event.payload["message_id"]
        self.is_behind = False
        if event.type == "TEXT_MESSAGE_END":
            return self.finish(message_id)
        if message_id in self._done:
            return []
        growing = self.growing.get(message_id) or self._begin(message_id, event.epoch)
        if "delta" in event.payload:
            growing.extend(
                event.payload["delta"],
                offset=event.payload["offset"],
                reasoning=event.type.startswith("REASONING"),
            )
        if event.type == "REASONING_END":
            return growing.end_reasoning(self.parent)
        return growing.ops(self.parent)

    def finish(self, message_id: str) -> list[Op]:
        """Return what the end of a message changes."""
        self._done.add(message_id)
        growing = self.growing.pop(message_id, None)
        if growing is None:
            return []
        if growing.reasoning:
            self._unsettled[message_id] = growing  # the row knows how long it took
        return growing.finish(self.parent)

    def drop(self, message_id: str) -> list[Op]:
        """Take a message off the page: it is sent again."""
        self._done.add(message_id)
        self._unsettled.pop(message_id, None)
        growing = self.growing.pop(message_id, Growing(message_id=message_id))
        return growing.remove()

    def drop_before(self, epoch: int) -> list[Op]:
        """Take off what a process of an earlier epoch was writing."""
        old = [key for key, item in self.growing.items() if item.epoch < epoch]
        return [op for message_id in old for op in self.drop(message_id)]

    def settle(self, *, ended: bool) -> list[Op]:
        """
        Return what the stored messages have that the grown ones have not.

        At the end of the run what was never stored is taken off the page.
        """
        texts = {**self._unsettled, **(self.growing if ended else {})}
        if not texts:
            return []
        stored = Message.objects.in_bulk([UUID(message_id) for message_id in texts])
        ops: list[Op] = []
        for message_id, growing in texts.items():
            message = stored.get(UUID(message_id))
            if message is not None:
                ops += growing.settle(message, self.parent)
                self._unsettled.pop(message_id, None)
            elif ended:
                ops += growing.remove()
        if ended:
            self._done.update(texts)
            self.growing.clear()
            self._unsettled.clear()
        return ops

    def _begin(self, message_id: str, epoch: int) -> Growing:
        growing = Growing(
            message_id=message_id, epoch=epoch, shows_reasoning=self.shows_reasoning
        )
        self.growing[message_id] = growing
        return growing
