"""Point at elements of the page, and lead the user from one to the next."""

import re
from collections.abc import Iterator
from typing import Any, NotRequired

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from typing_extensions import TypedDict

from ai_assistant.context.page import find_page
from ai_assistant.context.page_items import page_title
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry
from ai_assistant.tools.page.navigate import page_to_open
from ai_assistant.types import JSON, RunContext

MOST_MARKS = 10
MOST_STEPS = 20
# What names an element, and says nothing of what is in it: what a selector finds is
# told, and [value^="4"] or :checked would ask for values that are kept back.
NAMED = re.compile(
    r"""(?: [\w\s.\#,>+~*-]
        | \[ (?:id|class|name|for|type|role) (?:[~|^$*]?= (?:[\w-]+|"[^"\\]*"|'[^'\\]*'))? \]
        | :(?:first|last|only|nth)-(?:child|of-type) (?:\([\w\s+]+\))?
        )*""",
    re.VERBOSE,
)


class Mark(TypedDict):
    """An element, and what is written beside it."""

    selector: str
    text: NotRequired[str]


class TourStep(TypedDict):
    """A place of a tour; without `view_name` it is on the page of the step before."""

    text: str
    selector: NotRequired[str]
    view_name: NotRequired[str]
    arguments: NotRequired[dict[str, str | int]]


@tool(
    effect="ui",
    name="highlight",
    browser=True,
    shared=True,
    label=gettext_lazy("Highlight"),
)
def highlight_element(
    selector: str = "", text: str = "", marks: list[Mark] | None = None
) -> None:
    """
    Scroll to an element of the page and outline it for some seconds.

    selector: a CSS selector, for example #id_title
    text: a few words that are shown beside it
    marks: instead, several elements of this page, which are numbered
    """
    if not marks and not selector:
        raise ModelRetry("Give a selector, or marks.")
    if marks and len(marks) > MOST_MARKS:
        raise ModelRetry(f"Give at most {MOST_MARKS} marks, not {len(marks)}.")
    for one in (selector, *(mark["selector"] for mark in marks or ())):
        if not NAMED.fullmatch(one):
            raise ModelRetry(
                f"Name the element by tag, id, class, name or place, not by {one[:100]!r}."
            )


def _summary(_arguments: dict[str, Any], data: Any) -> str:
    count = data.get("steps", 0) if isinstance(data, dict) else 0
    if not count:
        return ""
    told = ngettext(
        "Began a tour of %(count)d step", "Began a tour of %(count)d steps", count
    )
    return told % {"count": count}


@tool(
    effect="ui",
    browser=True,
    shared=True,
    label=gettext_lazy("Tour"),
    summary=_summary,
)
def show_tour(context: RunContext, steps: list[TourStep]) -> dict[str, JSON]:
    """
    Show the person how something is done: places that they step through themselves.

    For "how do I ...?". Each step has a text, the selector of what it is about, as
    #id_title, and the page if it is another one, as navigate_to takes it.
    """
    if not 0 < len(steps) <= MOST_STEPS:
        raise ModelRetry(f"Give 1 to {MOST_STEPS} steps, not {len(steps)}.")
    return {"steps": list(_places(context, steps))}


def _places(context: RunContext, steps: list[TourStep]) -> Iterator[dict[str, JSON]]:
    """Yield where the steps are. Raise ToolFailed for a page that a tool may not open."""
    path, title = context.page_path, ""
    for step in steps:
        if view_name := step.get("view_name", ""):
            page = page_to_open(context, view_name, step.get("arguments") or {})
            path, title = page.info.path, capfirst(page_title(page))
        elif not title:
            own = find_page(path)
            title = capfirst(page_title(own)) if own else _("This page")
        yield {
            "path": path,
            "title": title,
            "selector": step.get("selector", ""),
            "text": step["text"],
        }
