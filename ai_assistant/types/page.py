"""The context of a page. Plain Python, frozen."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
    """Return whether lists and objects are nested deeper than MAX_DEPTH."""
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
    The policy for a tool, with a sentence that says why.

    `source` says who decided: rule, setting, tool, default, data, or code.
    """

    decision: Decision
    reason: str = ""
    source: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PageInfo:
    """
    The page of the user, from its URL alone; no database was asked.

    `action` is index, app_list, changelist, add, change, delete, history, or empty
    for a page that is not the admin's. `filters` are the admin's, as the address
    has them.
    """

    path: str = ""
    title: str = ""
    view_name: str = ""  # with its namespace: admin:shop_order_change
    app_label: str = ""
    model_name: str = ""
    object_id: str = ""
    action: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    filters: Mapping[str, str] = field(default_factory=dict)
    search: str = ""
    page_number: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextItem:
    """
    One item of context about the page: a description and a value.

    `title` is what its chip says and what `@title` mentions. Without `auto` it is
    sent only when it is mentioned. `source` and `label` are set by the server for
    all that does not come from the site's own code. The higher `priority` goes
    first when not all fit. `context_rounds` is for how many messages in a row from its
    page it is told; None: for each of them.
    """

    description: str
    value: JSON = None
    id: str = ""
    title: str = ""
    auto: bool = True
    priority: int = 0
    source: Source = "server"
    label: Label = "data"
    error: str = ""  # for its owner: why the value is missing
    context_rounds: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextProvider:
    """Server code that describes a page. See `ai_assistant.context`."""

    name: str
    function: Callable[..., Any]
    model: str = ""  # app.model, or empty for every page
    view: str = ""  # changelist, change, ...; empty for all
    description: str = ""
    title: str = ""
    auto: bool = True
    priority: int = 0
    convert: Callable[[Any], JSON] | None = None
    context_rounds: int | None = None
    origin: str = ""
