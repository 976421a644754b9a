"""What the page of the person shows, without what the assistant may not see."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.contrib.admin import AdminSite
from django.utils.translation import gettext_lazy as _

from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.provided import is_withheld
from ai_assistant.decorators import tool
from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.safety.policy.sensitive import HIDDEN, is_kept_name, is_secret_name
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
from ai_assistant.tools.page.outline import outline_text
from ai_assistant.types import JSON, RunContext

GET_PAGE_STATE = "get_page_state"
OF_WITHHELD = ("heading", "title")
DIALOG_BYTES, MOST_DIALOGS = 3_000, 5
VALUES = ("value", "saved", "options", "errors")  # errors may quote the value
ROW = re.compile(r"-(\d+|empty)(?=-|$)")  # the number of a row in the name of an input


@tool(
    effect="ui",
    name=GET_PAGE_STATE,
    browser=True,
    shared=True,
    label=_("Look at the page"),
)
def get_page_state(mode: Literal["", "outline"] = "", ref: str = "") -> None:
    """
    Look at the open page as the user has it, with what is typed and not saved.

    Tells forms, fields with values, errors, choices; lists with filters; messages.

    mode: "outline" tells all that can be pressed, with refs for page_action
    ref: of a part that the outline has folded
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class PageRules:
    """What of a page may be told."""

    is_kept: Callable[[str], bool] = is_kept_name  # of the value of an input
    is_text_kept: Callable[[str], bool] = is_kept_name  # of a text of a field
    kept_of_list: tuple[str, ...] = ()  # parts of its list


def page_rules(context: RunContext, path: str) -> PageRules | None:
    """Return what of the page at `path` may be told; None if nothing but its title."""
    page = find_page(path)
    if page is not None and is_withheld(page):
        return None
    if page is None or page.model_admin is None:
        return PageRules()
    try:
        access = _access(context, page)
        if page.info.action not in FORM_PAGES:
            # A row of a list has "form-0-title".
            columns = _Columns(access)
            return PageRules(
                is_kept=columns.is_kept,
                is_text_kept=columns.is_kept,
                kept_of_list=tuple(_kept_of_list(access)),
            )
        form = _FormInputs(access, dict(_inputs(access.site, _page_form(page, access))))
    except (ModelRetry, ToolFailed):  # the tools on rows do not show it either
        return None
    return PageRules(is_kept=form.is_kept, is_text_kept=form.is_text_kept)


def page_state(context: RunContext, path: str, reported: JSON) -> dict[str, Any]:
    """
    Return what the page at `path` reports, without what is kept from the assistant.

    `reported` comes from the page's own script: it leaves out passwords and what has
    the name of a secret; what the admin of the site says is known here only.
    """
    state: dict[str, Any] = dict(reported) if isinstance(reported, dict) else {}
    rules = page_rules(context, path)
    if rules is None:
        return _withheld(state)
    if "lines" in state:
        return {
            "title": str(state.get("title", "")),
            "snapshot": str(state.get("snapshot", "")),
            "outline": outline_text(path, state["lines"], rules),
        }
    if isinstance(shown := state.get("list"), dict):
        kept = rules.kept_of_list
        state["list"] = {key: shown[key] for key in shown if key not in kept}
    if isinstance(fields := state.get("fields"), list):
        state["fields"] = [
            _masked(field) if rules.is_kept(str(field.get("name", ""))) else field
            for field in fields
            if isinstance(field, dict)
        ]
    if dialogs := state.get("dialogs"):
        state["dialogs"] = [text for text in _dialogs(path, dialogs, rules) if text]
    return {name: value for name, value in state.items() if value not in (None, [], {})}


def _dialogs(path: str, reported: JSON, rules: PageRules) -> Iterator[str]:
    """Yield the outlines of dialogs, by the same rules as that of the page; without refs."""
    for lines in reported[:MOST_DIALOGS] if isinstance(reported, list) else ():
        bare = [
            [line[0], "", *line[2:]]
            for line in (lines if isinstance(lines, list) else ())
            if isinstance(line, list) and line
        ]
        yield outline_text(path, bare, rules, most=DIALOG_BYTES)


def _withheld(state: dict[str, Any]) -> dict[str, Any]:
    return {name: state[name] for name in OF_WITHHELD if name in state}


def _masked(field: dict[str, Any]) -> dict[str, Any]:
    return {key: HIDDEN if key in VALUES else value for key, value in field.items()}


def _kept_of_list(access: AdminAccess) -> Iterator[str]:
    """Yield the rows if they are named by what is kept back; filters by such, too."""
    own, request = access.model_admin, access.request
    columns = own.get_list_display(request)
    links = own.get_list_display_links(request, columns) or ()
    naming = next((str(one) for one in columns if one in links), "")
    if not is_open_path(access, naming):
        yield "rows"
    filters = [
        one if isinstance(one, str) else one[0]
        for one in own.get_list_filter(request)
        if isinstance(one, str | tuple | list)
    ]
    if not all(is_open_path(access, str(name)) for name in filters):
        yield "filters"


def _access(context: RunContext, page: SitePage) -> AdminAccess:
    model = f"{page.info.app_label}.{page.info.model_name}"
    here = replace(context, page=page.info)
    return find_access(here, model, perm="add" if page.info.action == "add" else "")


def _page_form(page: SitePage, access: AdminAccess) -> PageForm:
    if page.info.action == "add":
        return page_form(access.at_page("add"), None)
    obj = find_object(access, page.info.object_id)
    return page_form(access.at_object(obj.pk), obj)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The inputs and cells of a list. A row has "form-0-title"."""

    access: AdminAccess

    def is_kept(self, name: str) -> bool:
        return not is_open_path(self.access, name.rpartition("-")[2])


@dataclass(frozen=True, slots=True)
class _FormInputs:
    """The inputs of a form and its inlines, and whether they are kept back."""

    access: AdminAccess
    known: dict[str, bool]

    def is_kept(self, name: str) -> bool:
        own, found = self._found(name)
        return is_secret_name(own) if found is None else found

    def is_text_kept(self, name: str) -> bool:
        """Return the same of a text: one of an inline has "sections-0-title"."""
        own, found = self._found(name)
        if found is not None:
            return found
        return own != name or not is_open_path(self.access, name)

    def _found(self, name: str) -> tuple[str, bool | None]:
        own = ROW.sub("-N", name)
        row, dash, last = own.rpartition("-")
        parts = last.split("_")  # "at_0" and "at_year" are parts of "at"
        heads = ("_".join(parts[:count]) for count in range(len(parts), 0, -1))
        known = (self.known.get(f"{row}{dash}{head}") for head in heads)
        return own, next((one for one in known if one is not None), None)


def _inputs(
    site: AdminSite, page: PageForm, *, is_closed: bool = False
) -> Iterator[tuple[str, bool]]:
    """Yield the inputs of a form and its inlines, and whether they are kept back."""
    for name in page.form.fields:
        own = ROW.sub("-N", page.form.add_prefix(name).replace("__prefix__", "0"))
        yield own, is_closed or is_secret(page.form, name)
    for formset in page.formsets:
        is_hidden = is_closed or is_closed_inline(site, formset.inline)
        yield ROW.sub("-N", f"{formset.prefix}-0-"), is_hidden  # what its rows are
        for row in (*formset.rows[:1], *formset.extra[:1], *formset.empty()):
            is_kept = is_hidden or is_closed_inline(site, row.model_admin)
            yield from _inputs(site, row, is_closed=is_kept)
