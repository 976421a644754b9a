"""The tool with which the model suggests what the user may ask next."""

import unicodedata
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from django.utils.translation import gettext_lazy

from ai_assistant import conf
from ai_assistant.decorators import tool
from ai_assistant.registry import registry
from ai_assistant.text.unicode import JOINERS, is_hidden
from ai_assistant.types import JSON

MOST = 3
CHARS = 80  # of one


@tool(
    effect="ui",
    label=gettext_lazy("Follow-ups"),
    shared=True,
    is_enabled=lambda _context: bool(conf.get("FOLLOWUPS")),
    prompt_hint=(
        "If something useful is left to ask or to do, call suggest_followups in the "
        "reply that ends your work, after its text. Never call it without a text."
    ),
)
def suggest_followups(items: list[str]) -> dict[str, JSON]:
    """
    Offer the user what to ask next, below the answer that you write in this reply.

    items: at most 3 texts of at most 80 characters, as the user would send them
    """
    return {"shown": shown_items(items)}


def is_followups(name: str) -> bool:
    """Return whether a call of that name is of this tool, not of one in its place."""
    found = registry.tool(name)
    return found is not None and found.handler is suggest_followups


def shown_items(items: list[str]) -> list[str]:
    """Return what is offered of the model's items: short texts, and no commands."""
    texts = map(_visible, items)
    fit = [text for text in texts if 0 < len(text) <= CHARS and text[0] != "/"]
    return list(dict.fromkeys(fit))[:MOST]


def texts_in(value: JSON) -> Iterator[str]:
    """Yield all texts in the arguments or the result of a call, as `comparable`."""
    if isinstance(value, str):
        yield comparable(value)
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_in(one)


def comparable(text: str) -> str:
    """Return a text in the form that it shares with others that read the same."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(one for one in folded if _is_kept(one)).split())


def digest(text: str) -> str:
    """Return what identifies a text, and all that read the same, without its words."""
    return blake2b(comparable(text).encode(), digest_size=16).hexdigest()


def _visible(text: Any) -> str:
    """Return one line in which nothing is hidden: what is read is what is sent."""
    kept = (one for one in str(text) if _is_kept(one) or one in JOINERS)
    return " ".join("".join(kept).split())


def _is_kept(char: str) -> bool:
    return char.isspace() or not is_hidden(char)
