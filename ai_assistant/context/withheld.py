"""Objects of which a page tells that they are opened, and nothing that is in them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ai_assistant.context.page import Page
from ai_assistant.safety.opted_out import is_opted_out
from ai_assistant.safety.sensitive import is_sensitive_model
from ai_assistant.types import ContextItem

ROWS = "browser.page-rows"  # the ticked rows of a list
# What was typed into the form, and what is selected on the page.
TEXTS = frozenset({"browser.page-fields", "browser.page-selection"})


def is_withheld(page: Page) -> bool:
    """Tell whether objects of the page are sensitive, or kept from the assistant."""
    admin = page.model_admin
    return admin is not None and _is_kept(admin.model, admin)


def is_withheld_model(page: Page, model: Any) -> bool:  # noqa: ANN401 - a model class
    """Tell the same of objects that a page leads to, by the AdminSite of the page."""
    site = page.model_admin.admin_site
    return _is_kept(model, site._registry.get(model))  # noqa: SLF001


def without_texts(items: Iterable[ContextItem]) -> Iterator[ContextItem]:
    """Yield what a browser tells of such a page: which rows are ticked, not theirs."""
    for item in items:
        if item.id == ROWS:
            yield replace(item, value=_ids_only(item.value))
        elif item.id not in TEXTS:
            yield item


def _is_kept(model: Any, model_admin: Any) -> bool:  # noqa: ANN401
    return is_sensitive_model(model) or is_opted_out(model, model_admin)


def _ids_only(value: Any) -> Any:  # noqa: ANN401 - any JSON, as a browser sent it
    rows = value.get("rows") if isinstance(value, dict) else None
    if not isinstance(rows, list):
        return None
    ids = [{"id": row.get("id")} for row in rows if isinstance(row, dict)]
    return {**value, "rows": ids}
