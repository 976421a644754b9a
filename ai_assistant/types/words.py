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
UserKey = Any  # the primary key of the site's own user model

EFFECTS: tuple[Effect, ...] = ("read", "ui", "write", "destructive")
WRITING: tuple[Effect, ...] = ("write", "destructive")
IMPORTANCES: tuple[Importance, ...] = ("low", "medium", "high", "critical")


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """
    What the site wants for a tool, with a sentence that says why.

    `source` says who decided: rule, setting, tool, default, or data.
    """

    decision: Decision
    reason: str = ""
    source: str = ""
