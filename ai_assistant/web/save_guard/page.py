"""The page that asks before a Save undoes what the assistant changed."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.admin.options import IS_POPUP_VAR, TO_FIELD_VAR
from django.contrib.admin.utils import unquote
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.changes.staleness import (
    Part,
    generic_parts,
    rows_since,
    tables_of,
)
from ai_assistant.changes.values import label, meta
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.models.change import RowChange
from ai_assistant.safety.policy.form_limits import admin_form_class
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.values import object_name
from ai_assistant.tools.data.writing.widgets import put_posted_value
from ai_assistant.web.save_guard.conflicts import conflicts_of
from ai_assistant.web.save_guard.digest import (
    NAME,
    Opened,
    digest_forms,
    field_names,
    read_digest,
)
from ai_assistant.web.save_guard.digest_field import hidden_input

FORMS = frozenset({"change", "changelist"})
CHOICE = "_aia_choice-"  # before the name of the field that is decided
TAKE = "take"
OWN_FIELDS = frozenset({"csrfmiddlewaretoken", NAME})
# A change is stamped before it is committed, by the clock of the database. What the
# form was opened with decides; the moment only keeps old records out.
SLACK = timedelta(seconds=10)


def saves_rows(request: HttpRequest) -> bool:
    """Return whether this may be the Save of a form. Reads no posted data."""
    view = getattr(request.resolver_match, "func", None)
    is_known = hasattr(view, "model_admin") and hasattr(request, "user")
    return is_known and request.method == "POST" and conf.enabled()


def page_with_digest(request: HttpRequest) -> SitePage | None:
    """Return the page if its post has a digest. Asks no database."""
    if not saves_rows(request):
        return None
    page = find_page(request.get_full_path())
    if page is None or page.model_admin is None or page.info.action not in FORMS:
        return None
    is_new = "_saveasnew" in request.POST
    return page if NAME in request.POST and not is_new else None


def answer_if_stale(request: HttpRequest, page: SitePage) -> HttpResponse | None:
    """
    Return the page on which the person decides, instead of a save.

    It holds all that was entered. The decisions made there are put into the post.
    """
    opened = read_digest(request)
    if opened is None:
        return None
    return value_or(
        None,
        lambda: _answer(request, page, opened),
        "whether %r is older than a change is not known",
        page.info.path,
    )


def _answer(
    request: HttpRequest, page: SitePage, opened: Opened
) -> HttpResponse | None:
    choices = {
        name.removeprefix(CHOICE): str(value)
        for name, value in request.POST.items()
        if name.startswith(CHOICE)
    }
    if choices:
        _decide(request, _page_forms(request, page), choices)
    changed = _changed_since(request, page, opened)
    if not changed:
        return None
    page_forms = list(_page_forms(request, page))
    conflicts = list(conflicts_of(page_forms, changed, opened))
    if not conflicts:
        return None
    token = digest_forms(request, page_forms, key=opened.key)
    values = {
        "conflicts": conflicts,
        "digest": hidden_input(token),
        "subtitle": object_name(page_forms[0].instance) if opened.key else None,
    }
    return _ask(request, page, values)


# --- the forms of the page ---


def _page_forms(request: HttpRequest, page: SitePage) -> Iterator[Any]:
    """Yield the posted forms of existing rows, as the page itself makes them."""
    admin = page.model_admin
    if not admin.admin_site.has_permission(request):
        return
    if page.info.action == "changelist":
        yield from _list_forms(request, admin)
        return
    quoted = page.match.kwargs["object_id"]
    to_field = request.POST.get(TO_FIELD_VAR, request.GET.get(TO_FIELD_VAR))
    obj = admin.get_object(request, unquote(quoted), to_field)
    if obj is None or not admin.has_change_permission(request, obj):
        return
    form_class = admin_form_class(admin, request, obj)
    yield form_class(request.POST, request.FILES, instance=obj)
    formsets, _inlines = admin._create_formsets(request, obj, change=True)  # noqa: SLF001 - as the page itself does
    for formset in formsets:
        yield from _rows_of(formset)


def _list_forms(request: HttpRequest, admin: Any) -> Iterator[Any]:
    if "_save" not in request.POST or not admin.has_change_permission(request):
        return
    formset_class = admin.get_changelist_formset(request)
    prefix = formset_class.get_default_prefix()
    rows = admin._get_list_editable_queryset(request, prefix)  # noqa: SLF001 - as the page itself does
    formset = formset_class(request.POST, request.FILES, queryset=rows)
    yield from _rows_of(formset)


def _rows_of(formset: Any) -> Iterator[Any]:
    """Yield the forms of a formset, except those of rows that the person deletes."""
    deletion = forms.formsets.DELETION_FIELD_NAME
    for form in formset.initial_forms:
        if deletion not in form.fields or not form[deletion].data:
            yield form


# --- recorded changes ---


def _changed_since(
    request: HttpRequest, page: SitePage, opened: Opened
) -> list[RowChange]:
    model = page.model_admin.model
    moment = opened.at - SLACK
    if page.info.action == "changelist":
        return rows_since(moment, ids_by_table=_posted_rows(request, [model]))
    none: list[Any] = []
    inlines = value_or(none, lambda: list(page.model_admin.get_inlines(request, None)))
    ids = _posted_rows(request, [inline.model for inline in inlines])
    for table in tables_of(model):
        ids.setdefault(table, set()).add(opened.key)
    parts = {*_parts_of(model), *generic_parts(model)}
    return rows_since(moment, ids_by_table=ids, key=opened.key, parts=parts)


def _parts_of(model: Any) -> set[Part]:
    """Return the tables that point to that of the model, and by which column."""
    return {
        Part(label(relation.related_model), relation.field.attname)
        for relation in meta(model).get_fields(include_hidden=True)
        if relation.auto_created and not relation.concrete
        if relation.one_to_many or relation.one_to_one
    }


def _posted_rows(request: HttpRequest, models: Iterable[Any]) -> dict[str, set[str]]:
    """Return the ids of the rows that the page has of some models, by table."""
    ids_by_table: dict[str, set[str]] = {}
    for model in models:
        ids = _posted_ids(request, meta(model).pk.name)
        for table in tables_of(model):
            ids_by_table.setdefault(table, set()).update(ids)
    return ids_by_table


def _posted_ids(request: HttpRequest, key: str) -> list[str]:
    ending = f"-{key}"
    return [str(value) for name, value in request.POST.items() if name.endswith(ending)]


# --- decisions of the person ---


def _decide(
    request: HttpRequest, page_forms: Iterable[Any], choices: Mapping[str, str]
) -> None:
    """Put the stored value into the post for each field that the person gives up."""
    data = request.POST.copy()
    for form in page_forms:
        for name in field_names(form):
            bound = form[name]
            if choices.get(bound.html_name) != TAKE:
                continue
            if isinstance(bound.field, forms.FileField):
                data.pop(f"{bound.html_name}-clear", None)
            else:
                value = bound.field.prepare_value(bound.initial)
                put_posted_value(data, bound.html_name, bound.field, value)
    request.POST = data  # type: ignore[assignment]


def _ask(
    request: HttpRequest, page: SitePage, page_context: dict[str, Any]
) -> HttpResponse:
    admin = page.model_admin
    file_fields = {
        conflict.name for conflict in page_context["conflicts"] if conflict.is_file
    }
    context = {
        **admin.admin_site.each_context(request),
        "title": _("Changed since you opened the page"),
        "opts": admin.opts,
        "is_popup": IS_POPUP_VAR in request.POST or IS_POPUP_VAR in request.GET,
        **page_context,
        "choice": CHOICE,
        "fields": [
            (name, value)
            for name, values in request.POST.lists()
            if name not in OWN_FIELDS and not name.startswith(CHOICE)
            for value in values
        ],
        "files": [
            (name, getattr(file, "name", ""))
            for name, file in request.FILES.items()
            if name not in file_fields
        ],
    }
    response = render(request, "ai_assistant/stale_form.html", context, status=409)
    add_never_cache_headers(response)
    return response
