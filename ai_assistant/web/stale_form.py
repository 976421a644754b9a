"""The page that asks before a Save undoes what the assistant changed."""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib.admin.options import IS_POPUP_VAR, TO_FIELD_VAR
from django.contrib.admin.utils import flatten_fieldsets, unquote
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.changes.capture.columns import raw
from ai_assistant.changes.capture.images import object_id, same
from ai_assistant.changes.staleness import rows_since, tables_of
from ai_assistant.changes.values import concrete, label, meta
from ai_assistant.context.page import Page, find_page
from ai_assistant.models.change import RowChange
from ai_assistant.safety.policy.form_limits import form_limits, named_among
from ai_assistant.safety.policy.sensitive import HIDDEN, is_sensitive_field
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.values import (
    name_of,
    names_of,
    plain_text,
    shown_value,
)
from ai_assistant.tools.data.writing.posting import is_secret, put
from ai_assistant.web.form_digest import (
    NAME,
    Opened,
    digest_forms,
    field_names,
    held_value,
    hidden_input,
    model_field,
    posted_value,
    read_digest,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict:
    """A field that the assistant has changed and that the post would change back."""

    name: str  # in the page
    label: str
    theirs: str
    mine: str
    at: datetime
    by: str  # for whom the assistant did it
    is_touched: bool  # the person has changed it, too
    is_file: bool  # it was uploaded, and has to be chosen again


def conflicts_of(
    page_forms: Iterable[Any], rows: Iterable[RowChange], opened: Opened
) -> Iterator[Conflict]:
    """
    Yield the fields on which the person has to decide.

    `rows` is what runs have recorded since the forms were opened. A field counts if
    it still holds what was written then, and was opened with something else.
    """
    recorded = Recorded(rows, opened)
    for place, form in enumerate(page_forms):
        for name in field_names(form):
            found = _conflict(form, name, recorded, opened)
            if found is not None:
                yield _named(
                    form, name, found, opened, is_own=bool(opened.key) and place == 0
                )


class Recorded:
    """What runs have written, by row and column: only the last of it counts."""

    def __init__(self, rows: Iterable[RowChange], opened: Opened) -> None:
        self.rows = list(rows)
        self.opened = opened
        self.columns: dict[tuple[str, str, str], RowChange] = {}
        for row in self.rows:
            for attname in row.fields if row.after is not None else ():
                self.columns[row.model, row.object_id, attname] = row

    def of_field(self, form: Any, name: str) -> RowChange | None:
        """Return the change of which the field still holds what was written."""
        field = model_field(form, name)
        if field is None:
            return self._of_the_form_alone(form, name)
        if field.many_to_many:
            return self._of_links(form, name, field)
        return self._of_column(form, name, field)

    def _of_column(self, form: Any, name: str, field: Any) -> RowChange | None:
        found = self.columns.get((*_key(form.instance, field.model), field.attname))
        if found is None or not _holds(form, name, field, found.after):
            return None
        is_newer = found.change_set.created_at >= self.opened.at
        # One from just before was not seen if the form had the value before that.
        was_before = is_newer or self.opened.had(
            form, name, _shown(form, name, field, found.before)
        )
        return found if was_before else None

    def _of_links(self, form: Any, name: str, field: Any) -> RowChange | None:
        """Return the newest link made or removed that the post would take back."""
        now = {str(getattr(one, "pk", one)) for one in form[name].initial or ()}
        posted = set(map(str, posted_value(form, name) or ()))
        newest = self._links(form.instance, field)
        lost = [
            row
            for target, row in newest.items()
            if (row.after is not None) == (target in now)  # as the run left it
            and (target in now) != (target in posted)
        ]
        return lost[-1] if lost else None

    def _links(self, row: Any, field: Any) -> dict[str, RowChange]:
        through = field.remote_field.through
        source, target = (
            meta(through).get_field(one).attname
            for one in (field.m2m_field_name(), field.m2m_reverse_field_name())
        )
        found: dict[str, RowChange] = {}
        for change in self.rows:
            image = change.after or change.before or {}
            if change.model == label(through) and str(image.get(source)) == str(row.pk):
                key = str(image.get(target))
                found.pop(key, None)
                found[key] = change
        return found

    def _of_the_form_alone(self, form: Any, name: str) -> RowChange | None:
        """Return the newest change of the row, or of one that points to it."""
        if callable(form.fields[name].initial):
            return None  # it is another one each time
        keys = _keys(form.instance)
        own = [row for row in self.rows if (row.model, row.object_id) in keys]
        return own[-1] if own else self._beside(form.instance)

    def _beside(self, row: Any) -> RowChange | None:
        pointing = {
            label(relation.related_model): relation.field.attname
            for relation in meta(row).get_fields(include_hidden=True)
            if relation.one_to_many or relation.one_to_one
            if relation.auto_created and not relation.concrete
            if not meta(relation.related_model).auto_created
        }
        found = [
            change
            for change in self.rows
            if (attname := pointing.get(change.model))
            and str((change.after or {}).get(attname)) == str(row.pk)
        ]
        return found[-1] if found else None


def _key(row: Any, model: Any) -> tuple[str, str]:
    """Return table and id of the row that an object has in the table of `model`."""
    link = meta(row).get_ancestor_link(concrete(model))
    key = row.pk if link is None else getattr(row, link.attname)
    return label(model), object_id(model, key)


def _keys(row: Any) -> set[tuple[str, str]]:
    return {_key(row, model) for model in (type(row), *meta(row).all_parents)}


def _holds(form: Any, name: str, field: Any, image: Any) -> bool:
    """Tell whether the row still has what an image says, or what a form makes of it."""
    now = raw(field, getattr(form.instance, field.attname))
    if same(now, (image or {}).get(field.attname)):
        return True
    return bool(_shown(form, name, field, image) == held_value(form, name))


def _shown(form: Any, name: str, field: Any, image: Any) -> Any:
    """Return what the form would show if the row were as an image says."""
    row = copy(form.instance)
    stored = (image or {}).get(field.attname)
    setattr(row, field.attname, value_or(stored, lambda: field.to_python(stored)))
    return value_or(None, lambda: held_value(form, name, row))


def _conflict(
    form: Any,
    name: str,
    recorded: Recorded,
    opened: Opened,
) -> RowChange | None:
    if not _would_change(form, name):
        return None
    if opened.had(form, name, held_value(form, name)):
        return None
    return recorded.of_field(form, name)


def _would_change(form: Any, name: str) -> bool:
    """Tell whether the post would write something else than there is."""
    bound, own = form[name], model_field(form, name)
    if not bound.field.has_changed(bound.initial, bound.data):
        return False
    if isinstance(bound.field, forms.FileField):
        return True
    if own is not None and not own.many_to_many and own.has_default():
        widget = bound.field.widget
        if widget.value_omitted_from_data(form.data, form.files, bound.html_name):
            return False  # a form of the model leaves it as it is
    return bool(posted_value(form, name) != held_value(form, name))


def _named(
    form: Any,
    name: str,
    row: RowChange,
    opened: Opened,
    *,
    is_own: bool,
) -> Conflict:
    bound = form[name]
    said = capfirst(str(bound.label))
    owner = meta(form.instance).verbose_name
    user = row.change_set.user
    return Conflict(
        name=bound.html_name,
        label=said if is_own else f"{said} ({owner} “{name_of(form.instance)}”)",
        theirs=_theirs(form, name),
        mine=_mine(form, name),
        at=row.change_set.created_at,
        by="" if user is None else user.get_username(),
        is_touched=not opened.had(form, name, posted_value(form, name)),
        is_file=isinstance(bound.data, UploadedFile),
    )


def _theirs(form: Any, name: str) -> str:
    field = model_field(form, name)
    if _is_hidden(form, name):
        return HIDDEN
    if field is None:
        return plain_text(form[name].initial)
    limit = form_limits(form, [field]).get(name) if field.is_relation else None
    if field.many_to_many:
        return names_of(_offered(form[name].initial or (), limit))
    value = field.value_from_object(form.instance)
    is_told = limit is None or value is None
    if not is_told and not named_among(limit, [value], field.target_field.name):
        return HIDDEN  # what the form does not offer it does not name
    return shown_value(field, form.instance)


def _offered(linked: Iterable[Any], limit: Any) -> list[Any]:
    """Return those of linked objects that the form names."""
    linked = list(linked)
    if limit is None:
        return linked
    named = named_among(limit, [one.pk for one in linked])
    return [one for one in linked if one.pk in named]


def _mine(form: Any, name: str) -> str:
    field, bound = model_field(form, name), form[name]
    if _is_hidden(form, name):
        return HIDDEN
    try:
        value = _cleaned(bound)
    except ValidationError:
        return plain_text(bound.data)
    if field is None or isinstance(bound.field, forms.FileField):
        return plain_text(getattr(value, "name", value) or "")
    if field.many_to_many:
        return names_of(value)
    posted = copy(form.instance)
    field.save_form_data(posted, value)
    return shown_value(field, posted)


def _cleaned(bound: Any) -> Any:
    if isinstance(bound.field, forms.FileField):
        return bound.field.clean(bound.data, bound.initial)
    return bound.field.clean(bound.data)


def _is_hidden(form: Any, name: str) -> bool:
    field = model_field(form, name)
    if field is None:
        return is_secret(form, name)
    return is_sensitive_field(field)


FORMS = frozenset({"change", "changelist"})
CHOICE = "_aia_choice-"  # before the name of the field that is decided
TAKE = "take"
OWN_FIELDS = frozenset({"csrfmiddlewaretoken", NAME})
# A change is stamped before it is committed, by the clock of the database. What the
# form was opened with decides; the moment only keeps old records out.
SLACK = timedelta(seconds=10)


def saves_rows(request: HttpRequest) -> bool:
    """Tell whether this may be the Save of a form. Reads nothing of what is posted."""
    view = getattr(request.resolver_match, "func", None)
    is_known = hasattr(view, "model_admin") and hasattr(request, "user")
    return is_known and request.method == "POST" and conf.enabled()


def page_with_digest(request: HttpRequest) -> Page | None:
    """Return the page if its post says with what it was opened. Asks no database."""
    if not saves_rows(request):
        return None
    page = find_page(request.get_full_path())
    if page is None or page.model_admin is None or page.info.action not in FORMS:
        return None
    is_new = "_saveasnew" in request.POST
    return page if NAME in request.POST and not is_new else None


def answer_if_stale(request: HttpRequest, page: Page) -> HttpResponse | None:
    """
    Return the page on which the person decides, instead of a save.

    It holds all that was entered. What was decided there is put into the post.
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


def _answer(request: HttpRequest, page: Page, opened: Opened) -> HttpResponse | None:
    chosen = {
        name.removeprefix(CHOICE): str(value)
        for name, value in request.POST.items()
        if name.startswith(CHOICE)
    }
    if chosen:
        _decide(request, _page_forms(request, page), chosen)
    changed = _changed_since(request, page, opened)
    if not changed:
        return None
    page_forms = list(_page_forms(request, page))
    conflicts = list(conflicts_of(page_forms, changed, opened))
    if not conflicts:
        return None
    token = digest_forms(request, page_forms, key=opened.key)
    told = {
        "conflicts": conflicts,
        "digest": hidden_input(token),
        "subtitle": name_of(page_forms[0].instance) if opened.key else None,
    }
    return _ask(request, page, told)


# --- the forms of the page ---


def _page_forms(request: HttpRequest, page: Page) -> Iterator[Any]:
    """Yield the posted forms of rows that are there, as the page itself makes them."""
    admin = page.model_admin
    if not admin.admin_site.has_permission(request):
        return
    if page.info.action == "changelist":
        yield from _list_forms(request, admin)
        return
    quoted = page.match.kwargs["object_id"] if page.match else ""
    to_field = request.POST.get(TO_FIELD_VAR, request.GET.get(TO_FIELD_VAR))
    obj = admin.get_object(request, unquote(quoted), to_field)
    if obj is None or not admin.has_change_permission(request, obj):
        return
    names = flatten_fieldsets(admin.get_fieldsets(request, obj))
    form_class = admin.get_form(request, obj, change=True, fields=names)
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
    """Yield the forms of a formset, but of rows that the person deletes."""
    deletion = forms.formsets.DELETION_FIELD_NAME
    for form in formset.initial_forms:
        if deletion not in form.fields or not form[deletion].data:
            yield form


# --- what has been recorded ---


def _changed_since(request: HttpRequest, page: Page, opened: Opened) -> list[RowChange]:
    model = page.model_admin.model
    moment = opened.at - SLACK
    if page.info.action == "changelist":
        return rows_since(moment, own=_posted_rows(request, [model]))
    none: list[Any] = []
    inlines = value_or(none, lambda: list(page.model_admin.get_inlines(request, None)))
    own = _posted_rows(request, [inline.model for inline in inlines])
    for table in tables_of(model):
        own.setdefault(table, set()).add(opened.key)
    return rows_since(moment, own=own, key=opened.key, parts=_parts_of(model))


def _parts_of(model: Any) -> set[tuple[str, str]]:
    """Return the tables that point to that of the model, and by which column."""
    return {
        (label(relation.related_model), relation.field.attname)
        for relation in meta(model).get_fields(include_hidden=True)
        if relation.auto_created and not relation.concrete
        if relation.one_to_many or relation.one_to_one
    }


def _posted_rows(request: HttpRequest, models: Iterable[Any]) -> dict[str, set[str]]:
    """Return the ids of the rows that the page has of some models, by table."""
    found: dict[str, set[str]] = {}
    for model in models:
        ids = _posted_ids(request, meta(model).pk.name)
        for table in tables_of(model):
            found.setdefault(table, set()).update(ids)
    return found


def _posted_ids(request: HttpRequest, key: str) -> list[str]:
    ending = f"-{key}"
    return [str(value) for name, value in request.POST.items() if name.endswith(ending)]


# --- what the person decides ---


def _decide(
    request: HttpRequest, page_forms: Iterable[Any], chosen: Mapping[str, str]
) -> None:
    """Put into the post what the rows hold, for each field that is to be taken."""
    data = request.POST.copy()
    for form in page_forms:
        for name in field_names(form):
            bound = form[name]
            if chosen.get(bound.html_name) != TAKE:
                continue
            if isinstance(bound.field, forms.FileField):
                data.pop(f"{bound.html_name}-clear", None)
            else:
                value = bound.field.prepare_value(bound.initial)
                put(data, bound.html_name, bound.field, value)
    request.POST = data  # type: ignore[assignment]


def _ask(request: HttpRequest, page: Page, told: dict[str, Any]) -> HttpResponse:
    admin = page.model_admin
    again = {one.name for one in told["conflicts"] if one.is_file}
    context = {
        **admin.admin_site.each_context(request),
        "title": _("Changed since you opened the page"),
        "opts": admin.opts,
        "is_popup": IS_POPUP_VAR in request.POST or IS_POPUP_VAR in request.GET,
        **told,
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
            if name not in again
        ],
    }
    response = render(request, "ai_assistant/stale_form.html", context, status=409)
    add_never_cache_headers(response)
    return response
