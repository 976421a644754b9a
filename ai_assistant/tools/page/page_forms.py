"""Forms of pages outside of the admin: no ModelAdmin says what may be filled in."""

from typing import Any

from ai_assistant.context.page import find_page
from ai_assistant.exceptions import ModelRetry
from ai_assistant.safety.policy.sensitive import is_kept_name
from ai_assistant.tools.data.arguments import Inlines, Values
from ai_assistant.types import JSON, RunContext

OURS = "ai_assistant"
Texts = list[str]


def is_site_page(path: str) -> bool:
    """Return whether a view of the site serves the page, and no admin does."""
    page = find_page(path)
    return (
        page is not None and not page.is_of_admin and OURS not in page.match.app_names
    )


def site_form(
    context: RunContext, values: Values, inlines: Inlines, form: str
) -> dict[str, JSON]:
    """
    Return what the page is to fill in, by the names of its inputs.

    The page refuses what its HTML does not allow, before it touches anything.
    """
    if inlines:
        raise ModelRetry(
            "This page has no inlines: give the rows of a formset by the names of their "
            "inputs in values, as form-0-title. A new row has the next number."
        )
    if not values:
        raise ModelRetry("Give values by the names that get_page_state tells.")
    if kept := [name for name in values if is_kept_name(name)]:
        raise ModelRetry(f"Kept from the assistant: {', '.join(map(repr, kept))}.")
    return {
        "page": context.page_path,
        "form": form,
        "values": {name: _texts(name, value) for name, value in values.items()},
    }


def _texts(name: str, value: Any) -> Texts:
    """Return a value as its inputs have it: a text for each that is chosen."""
    given = value if isinstance(value, list) else [value]
    if any(isinstance(one, list | dict) for one in given):
        raise ModelRetry(f"{name!r} takes a text, a number, true or false, or a list.")
    return [
        str(one).lower() if isinstance(one, bool) else str(one)
        for one in given
        if one is not None
    ]
