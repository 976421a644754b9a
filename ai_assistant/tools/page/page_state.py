"""What the page of the person shows, without what the assistant may not see."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.utils.translation import gettext_lazy as _

from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.provided import is_withheld
from ai_assistant.decorators import tool
from ai_assistant.safety.policy.sensitive import (
    HIDDEN,
    is_secret_name,
    is_sensitive_field,
)
from ai_assistant.types import JSON, RunContext

GET_PAGE_STATE = "get_page_state"
OF_WITHHELD = ("heading", "title")
VALUES = ("value", "saved", "options")


@tool(
    effect="ui",
    name=GET_PAGE_STATE,
    browser=True,
    shared=True,
    label=_("Look at the page"),
)
def get_page_state() -> None:
    """
    Look at the open page as the user has it, with what is typed and not saved.

    Tells fields with values, errors and choices; a list with its filters; messages, buttons.
    """


def page_state(context: RunContext, path: str, reported: JSON) -> dict[str, Any]:
    """Return what the page at `path` reports, without the values of sensitive fields."""
    state: dict[str, Any] = dict(reported) if isinstance(reported, dict) else {}
    page = find_page(path)
    if page is not None and is_withheld(page):
        return {name: state[name] for name in OF_WITHHELD if name in state}
    fields = state.get("fields")
    if isinstance(fields, list):
        models = list(_models(page))
        state["fields"] = [
            _masked(field, models) for field in fields if isinstance(field, dict)
        ]
    return {name: value for name, value in state.items() if value not in (None, [], {})}


def _models(page: SitePage | None) -> Iterator[Any]:
    """Yield the model of a page of the admin, and those of its inlines."""
    if page is None or page.model_admin is None:
        return
    yield page.model_admin.model
    yield from (inline.model for inline in page.model_admin.inlines)


def _masked(field: dict[str, Any], models: Iterable[Any]) -> dict[str, Any]:
    # "items-0-name" is a field of an inline, "at_0" a part of a field.
    name = str(field.get("name", "")).rpartition("-")[2]
    head, _line, number = name.rpartition("_")
    names = {name, head} if number.isdigit() else {name}
    if not any(_is_sensitive(one, models) for one in names):
        return field
    return {key: HIDDEN if key in VALUES else value for key, value in field.items()}


def _is_sensitive(name: str, models: Iterable[Any]) -> bool:
    if is_secret_name(name):
        return True
    for model in models:
        try:
            if is_sensitive_field(model._meta.get_field(name)):
                return True
        except FieldDoesNotExist:
            continue
    return False
