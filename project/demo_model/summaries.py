"""A summary of a conversation: no rule says it shorter than its first questions."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ai_assistant.engine.accounting.summaries import PROMPT

ASKED = re.compile(r"^User: (.+)$", re.MULTILINE)
MOST, CHARS = 12, 80


def summary_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return what was asked, if a summary is asked for; else nothing."""
    if not messages or messages[0].get("content") != PROMPT:
        return ""
    asked = ASKED.findall(str(messages[-1].get("content", "")))
    lines = [f"- {one.strip()[:CHARS]}" for one in asked[:MOST]]
    return "\n".join(["The user asked:", *lines]) if lines else "Nothing was asked."
