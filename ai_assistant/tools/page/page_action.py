"""Act on the page by refs of its outline: the page does nothing that it cannot know."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from pydantic import Field

from ai_assistant.changes.values import Changes, FieldChange, ObjectChange
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.tools.page.navigate import navigation_result
from ai_assistant.tools.page.outline import Seen, outline_text, seen_elements
from ai_assistant.tools.page.page_state import GET_PAGE_STATE, page_rules
from ai_assistant.types import JSON, Effect, RunContext

PAGE_ACTION = "page_action"
MOST_ACTIONS = 25
PART_BYTES = 5_000
READ_BYTES = 8_000
WAIT_FOR = "wait_for"  # has no ref
PRESSING = ("click", "press")
ERROR_CHARS = 300

Action = Literal[
    "click", "fill", "select", "check", "press", "scroll", "read", "wait_for"
]


@dataclass(frozen=True, kw_only=True, slots=True)
class PageAction:
    """Of an element: its ref, and what it gets."""

    action: Action
    ref: str = ""
    value: str = ""


Actions = Annotated[list[PageAction], Field(min_length=1, max_length=MOST_ACTIONS)]


def effect_of(arguments: Mapping[str, Any]) -> Effect:
    """Return the effect of a call: unless a person is asked, the page changes nothing."""
    return "destructive" if arguments.get("ask") else "ui"


def _summary(_arguments: dict[str, Any], data: Any) -> str:
    if isinstance(data, dict) and data.get("left"):
        return _("Led to another page")
    done = data.get("done") if isinstance(data, dict) else None
    if not isinstance(done, int) or not done:
        return ""
    text = ngettext("Did %d thing on the page", "Did %d things on the page", done)
    return text % done


def _preview(
    context: RunContext, snapshot: str, actions: Actions, *, ask: bool = False
) -> Changes:
    """Return what the card shows: the words of the page itself, not of the model."""
    del ask
    seen = _seen(context, snapshot, actions)
    told = [(one, seen.get(one.ref)) for one in actions]
    pressed = [
        element.name for one, element in told if element and one.action in PRESSING
    ]
    title = _("Fill in fields that are sent at once")
    if pressed:
        title = _("Press “%(name)s”") % {"name": " · ".join(pressed)}
    return Changes(
        title=title,
        objects=(
            ObjectChange(
                kind="action",
                model="",
                text=_("On the open page"),
                fields=tuple(line for one in told for line in _lines(*one)),
            ),
        ),
        total=1,
        undoable=False,
    )


VERBS = {
    "click": gettext_lazy("Press"),
    "fill": gettext_lazy("Fill in"),
    "select": gettext_lazy("Choose"),
    "check": gettext_lazy("Tick"),
    "press": gettext_lazy("Press the key"),
    "scroll": gettext_lazy("Scroll to"),
    "read": gettext_lazy("Read"),
}


def _lines(one: PageAction, element: Seen | None) -> Iterator[FieldChange]:
    if element is None:
        return
    role, verb = element.role, str(VERBS[one.action])
    called = ", ".join(filter(None, (element.name or role, element.row)))
    if one.action == "click":
        yield FieldChange(name=one.action, label=verb, after=f"{called} ({role})")
    else:
        label = f"{verb}: {called}"
        yield FieldChange(name=one.action, label=label, after=one.value)
    if element.host and one.action in PRESSING:
        yield FieldChange(name="host", label=_("Leads to"), after=element.host)


@tool(
    effect="destructive",
    effect_of=effect_of,
    name=PAGE_ACTION,
    browser=True,
    shared=True,
    preview=_preview,
    timeout_browser_s=150,
    label=gettext_lazy("Act on the page"),
    summary=_summary,
)
def page_action(
    context: RunContext, snapshot: str, actions: Actions, *, ask: bool = False
) -> dict[str, JSON]:
    """
    Act on the open page, in order, until one fails; tells how the page is then.

    Only where no other tool does it: an open form is filled in by fill_form.

    snapshot: of the outline of get_page_state that told the refs
    ask: for what the outline marks with "asks": the person is asked first
    """
    if context.actions.locked is not None:
        raise ToolFailed(context.actions.locked.refusal)
    _seen(context, snapshot, actions)
    return {
        "snapshot": snapshot,
        "actions": [asdict(one) for one in actions],
        "approved": ask,
    }


def _seen(
    context: RunContext, snapshot: str, actions: list[PageAction]
) -> dict[str, Seen]:
    """Return what was told of the elements. Raise ModelRetry for one that was not."""
    tools = (GET_PAGE_STATE, PAGE_ACTION)
    seen = seen_elements(context.conversation_id, snapshot, tools)
    refs = [one.ref for one in actions if one.action != WAIT_FOR]
    if unknown := [ref for ref in refs if ref not in seen]:
        raise ModelRetry(
            f"The snapshot {snapshot!r} has no ref {', '.join(map(repr, unknown))}. "
            'Take those that get_page_state(mode="outline") tells.'
        )
    return seen


def page_action_result(
    context: RunContext, path: str, reported: JSON
) -> dict[str, Any]:
    """Return what the page tells after the actions; another one, if they have led there."""
    report: dict[str, Any] = dict(reported) if isinstance(reported, dict) else {}
    if "lines" not in report:
        return {"left": True, **navigation_result(context, path, reported)}
    result: dict[str, Any] = {"done": report.get("done")}
    if isinstance(failed := report.get("failed"), dict):
        error = str(failed.get("error", ""))[:ERROR_CHARS]
        result["failed"] = {"action": failed.get("action"), "error": error}
    rules = page_rules(context, path)
    if rules is None:
        return result
    read = report.get("read")
    texts = read if isinstance(read, list) else []
    most = READ_BYTES // max(len(texts), 1)
    if texts:
        result["read"] = [outline_text(path, one, rules, most=most) for one in texts]
    result["snapshot"] = str(report.get("snapshot", ""))
    result["outline"] = outline_text(path, report["lines"], rules, most=PART_BYTES)
    return result
