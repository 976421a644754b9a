"""The words of which the others are made, and a verdict of the site. Plain Python."""

from dataclasses import dataclass
from typing import Any, Literal

Effect = Literal["read", "ui", "write", "destructive"]
Source = Literal["server", "browser", "user"]  # who delivered a piece of context
Label = Literal["site", "data", "user"]  # what its words may cause
QuestionKind = Literal["text", "confirm", "select", "multi_select"]
Decision = Literal["allow", "ask", "deny"]
Importance = Literal["low", "medium", "high", "critical"]  # of an approval
JSON = Any  # what json.dumps takes
MAX_DEPTH = 32  # of lists and objects in JSON that comes from outside
UserKey = Any  # the primary key of the site's own user model

EFFECTS: tuple[Effect, ...] = ("read", "ui", "write", "destructive")
WRITING: tuple[Effect, ...] = ("write", "destructive")
IMPORTANCES: tuple[Importance, ...] = ("low", "medium", "high", "critical")


def is_deep(value: JSON) -> bool:
    """Tell whether lists and objects are nested deeper than MAX_DEPTH."""
    level = [value]
    for _depth in range(MAX_DEPTH):
        level = [
            item
            for parent in level
            if isinstance(parent, dict | list)
            for item in (parent.values() if isinstance(parent, dict) else parent)
        ]
    return any(isinstance(item, dict | list) for item in level)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """
    What the site wants for a tool, with a sentence that says why.

    `source` says who decided: rule, setting, tool, default, or data.
    """

    decision: Decision
    reason: str = ""
    source: str = ""
