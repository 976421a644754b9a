"""What the page of the person shows, without what the assistant may not see."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from django.contrib.admin import AdminSite
from django.utils.translation import gettext_lazy as _

from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.provided import is_withheld
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.safety.policy.sensitive import HIDDEN, is_secret_name
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    find_access,
    find_object,
    is_closed_inline,
)
from ai_assistant.tools.data.access.visibility import is_open_path
from ai_assistant.tools.data.writing.harvest import PageForm, page_form
from ai_assistant.tools.data.writing.posting import is_secret
from ai_assistant.tools.page.fill_form import FORM_PAGES
from ai_assistant.types import JSON, RunContext

GET_PAGE_STATE = "get_page_state"
OF_WITHHELD = ("heading", "title")
VALUES = ("value", "saved", "options")
ROW = re.compile(r"-(\d+|empty)(?=-|$)")  # the number of a row in the name of an input


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
    """
    Return what the page at `path` reports, without what is kept from the assistant.

    `reported` comes from the page's own script: it leaves out passwords and what has
    the name of a secret; what the admin of the site says is known here only.
    """
    state: dict[str, Any] = dict(reported) if isinstance(reported, dict) else {}
    page = find_page(path)
    is_kept: Callable[[str], bool] = is_secret_name
    if page is not None and page.model_admin is not None:
        if is_withheld(page):
            return _withheld(state)
        try:
            access = _access(context, page)
            is_kept = _kept_inputs(page, access)
        except (ModelRetry, ToolFailed):  # the tools on rows do not show it either
            return _withheld(state)
        if not is_open_path(access, _first_column(access)):
            state["list"] = _without_rows(state.get("list"))
    if isinstance(fields := state.get("fields"), list):
        state["fields"] = [
            _masked(field) if is_kept(str(field.get("name", ""))) else field
            for field in fields
            if isinstance(field, dict)
        ]
    return {name: value for name, value in state.items() if value not in (None, [], {})}


def _withheld(state: dict[str, Any]) -> dict[str, Any]:
    return {name: state[name] for name in OF_WITHHELD if name in state}


def _masked(field: dict[str, Any]) -> dict[str, Any]:
    return {key: HIDDEN if key in VALUES else value for key, value in field.items()}


def _without_rows(shown: JSON) -> JSON:
    if not isinstance(shown, dict):
        return None
    return {key: value for key, value in shown.items() if key != "rows"}


def _first_column(access: AdminAccess) -> str:
    """Return the column of the list that names its rows."""
    columns = access.model_admin.get_list_display(access.request)
    return str(next(iter(columns), ""))


def _access(context: RunContext, page: SitePage) -> AdminAccess:
    model = f"{page.info.app_label}.{page.info.model_name}"
    here = replace(context, page=page.info)
    return find_access(here, model, perm="add" if page.info.action == "add" else "")


def _kept_inputs(page: SitePage, access: AdminAccess) -> Callable[[str], bool]:
    """Return what tells of the name of an input whether its value is kept back."""
    if page.info.action not in FORM_PAGES:
        # A row of a list has "form-0-title".
        return lambda name: not is_open_path(access, name.rpartition("-")[2])
    if page.info.action == "add":
        form = page_form(access.at_page("add"), None)
    else:
        obj = find_object(access, page.info.object_id)
        form = page_form(access.at_object(obj.pk), obj)
    known = dict(_inputs(access.site, form))

    def is_kept(name: str) -> bool:
        own = ROW.sub("-N", name)
        head, _line, number = own.rpartition("_")  # "at_0" is a part of "at"
        found = known.get(own, known.get(head) if number.isdigit() else None)
        return is_secret_name(own) if found is None else found

    return is_kept


def _inputs(
    site: AdminSite, page: PageForm, *, is_closed: bool = False
) -> Iterator[tuple[str, bool]]:
    """Yield the inputs of a form and its inlines, and whether they are kept back."""
    for name in page.form.fields:
        own = ROW.sub("-N", page.form.add_prefix(name).replace("__prefix__", "0"))
        yield own, is_closed or is_secret(page.form, name)
    for formset in page.formsets:
        is_hidden = is_closed or is_closed_inline(site, formset.inline)
        for row in (*formset.rows[:1], *formset.extra[:1], formset.empty):
            if row is not None:
                yield from _inputs(site, row, is_closed=is_hidden)
