"""The cards of calls that the model is still writing. Only from live frames."""

from typing import Any

from pydantic_core import from_json

from ai_assistant.render.html.entries import draft_entry
from ai_assistant.render.html.fragments import part_html
from ai_assistant.render.html.growth import Op

Key = tuple[str, int]  # message and position


class Drafts:
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
        """Tell whether the card stands on the page already."""
        return _key(frame) in self._known

    def take(self, frame: dict[str, Any]) -> bool:
        """Take a frame; True if there is something new to show."""
        key = _key(frame)
        known = self._known.get(key)
        if known and len(known["arguments"]) >= len(frame["arguments"]):
            return False
        self._known[key] = frame
        self._news[key] = None
        return True

    def ops(self, parent: str, panel: Any) -> list[Op]:  # noqa: ANN401
        """Return what to draw below `parent`. Runs templates: not on the loop."""
        newest = max((frame["epoch"] for frame in self._known.values()), default=0)
        old = self.drop(before=newest)
        news, self._news = self._news, {}
        return old + [
            ["append", parent, part_html(_part(self._known[key]), panel)]
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
        return [["remove", f"c-{_card_id(key)}"] for key in gone]


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
