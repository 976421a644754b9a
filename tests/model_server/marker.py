"""Which script a request asks for: read from its messages, nothing is kept."""

import re
from dataclasses import dataclass, field

MARKER = re.compile(
    r"\[\[script:(?P<name>[\w.-]+)(?:#(?P<tag>[\w.-]+))?(?P<params>(?:\s+\w+=[^\s\]]+)*)\s*\]\]"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """The script that is asked for, and which reply of it."""

    name: str = "default"
    tag: str = ""
    params: dict[str, str] = field(default_factory=dict)
    step: int = 0  # 0 for the first call after the user's message
    said: str = ""  # the user's last words


def words_of(content: object) -> str:
    """Return the text of a message's content, plain or in parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(
            str(part.get("text", "")) for part in content if isinstance(part, dict)
        )
    return ""


def read(messages: list[dict[str, object]]) -> Asked:
    """
    Return what `messages` ask for.

    The marker stands in the last message of the user; each assistant message
    after it is a reply that was given already.
    """
    users = [n for n, message in enumerate(messages) if message.get("role") == "user"]
    if not users:
        return Asked()
    said = words_of(messages[users[-1]].get("content"))
    after = messages[users[-1] + 1 :]
    step = sum(message.get("role") == "assistant" for message in after)
    return from_text(said, step=step)


def from_text(said: str, *, step: int = 0) -> Asked:
    """Return what the last marker of `said` asks for."""
    found = list(MARKER.finditer(said))
    if not found:
        return Asked(step=step, said=said)
    marker = found[-1]
    pairs = (pair.split("=", 1) for pair in (marker["params"] or "").split())
    return Asked(
        name=marker["name"],
        tag=marker["tag"] or "",
        params=dict(pairs),
        step=step,
        said=said,
    )
