"""
The rows and fields that the pages of a ModelAdmin show.

A page is more than `get_queryset`: the site may limit rows by a ChangeList or a search
of its own, and close the page of an object by `get_object`, a permission of the object,
or a view. Each is called only where the site has overridden it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.utils.translation import gettext as _

from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.safety.policy.admin_pages import (
    OF_LIST,
    Page,
    is_overridden,
    rows_of_changelist,
    rows_on_page,
)
from ai_assistant.safety.policy.form_limits import (
    Limits,
    form_limited_fields,
    form_only_names,
    may_limit,
)
from ai_assistant.safety.policy.sensitive import is_sensitive_field
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.form_classes import (
    FIELD_METHODS,
    real_object,
    with_kept_forms,
)
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    is_closed,
    is_closed_on,
)

# Of AdminAccess.memo.
LISTED, BY_OBJECT, FIELDS, REAL = "listed", "by object", "fields", "real class"
FORM_FIELDS = "form fields"
ANY = "0"  # the id of no object in particular
MOST_ASKED = 200  # objects whose pages are asked for one figure
MOST_TRIED = 20  # objects, to find one whose page opens


# --- the list ---


def changelist_rows(access: AdminAccess) -> QuerySet[Any]:
    """
    Return the rows that the list of the admin shows to the user.

    Filters are no limit, as the person may choose others. Raise ToolFailed if the
    list is code of the site and does not open.
    """
    if LISTED not in access.memo:
        access.memo[LISTED] = _list_rows(access.at_page("changelist"))
    return access.memo[LISTED].all()  # type: ignore[no-any-return]


def limits_list(access: AdminAccess) -> bool:
    """Return whether the list may show fewer rows than `get_queryset` returns."""
    return is_overridden(access.model_admin, *OF_LIST, "get_search_results")


def is_listed(access: AdminAccess, obj: Model) -> bool:
    """Return whether the list shows `obj`, whose page opens, to the user."""
    if not (limits_list(access) or is_overridden(access.model_admin, "get_object")):
        return True
    try:
        return changelist_rows(access).filter(pk=obj.pk).exists()
    except ToolFailed:
        return False


def opens_list(access: AdminAccess) -> bool:
    """Return whether the list of the admin opens for the user."""
    if not is_overridden(access.model_admin, "changelist_view"):
        return True
    try:
        changelist_rows(access)
    except ToolFailed:
        return False
    return True


def _list_rows(access: AdminAccess) -> QuerySet[Any]:
    if response := access.check_page():
        rows = rows_on_page(access.model_admin, response)
    else:
        rows = rows_of_changelist(access.model_admin, access.request)
    if rows is None:
        raise ToolFailed(
            _(
                "The list of %(names)s is a custom page of this site; the assistant "
                "cannot read its rows."
            )
            % {"names": access.options.verbose_name_plural},
            suggestion=_("Tell the person to look at the page itself."),
        )
    return rows


# --- the page of each object ---


def openable_keys(access: AdminAccess, rows: Sequence[Model]) -> set[Any]:
    """Return the keys of `rows`, which are in the list, whose page opens."""
    if not rows:
        return set()
    if decides_by_object(access):
        return {row.pk for row in rows if _opens(access, row)}
    keys = {row.pk for row in rows} if access.may_see() else set()
    if not (keys and is_overridden(access.model_admin, "get_queryset")):
        return keys
    return set(page_rows(access).filter(pk__in=keys).values_list("pk", flat=True))


def check_opening(access: AdminAccess, rows: QuerySet[Any], name: str) -> None:
    """
    Make sure that the user sees this field of each of `rows`, which are in the list.

    It is a column of the list, or stands on pages that open. Raise ModelRetry if the
    page of a row does not open, or there are too many to ask.
    """
    columns = [*map(str, access.model_admin.get_list_display(access.request))]
    if name not in columns and _lacks_page(access, rows):
        raise ModelRetry(
            f"{name} of {access.label} is shown only on the page of each object. The "
            f"user may not open every page, or there are more than {MOST_ASKED}. Use "
            f"columns of the list ({', '.join(columns)}), or narrow it with filters."
        )


def decides_by_object(access: AdminAccess) -> bool:
    """Return whether the site decides for each object whether its page opens."""
    if BY_OBJECT not in access.memo:
        admin = access.model_admin
        names = ("get_object", "has_view_permission", "has_view_or_change_permission")
        access.memo[BY_OBJECT] = (
            is_overridden(admin, *names)
            or (
                is_overridden(admin, "has_change_permission")
                and not admin.has_view_permission(access.request)
            )
            or _is_custom_form(access)
        )
    return bool(access.memo[BY_OBJECT])


def opens_form(access: AdminAccess) -> bool:
    """Return whether the form that changes an object opens for some object."""
    if not _is_custom_form(access):
        return True
    rows = changelist_rows(access) if opens_list(access) else page_rows(access)
    return any(_opens(access, row) for row in rows[:MOST_TRIED])


def _is_custom_form(access: AdminAccess) -> bool:
    try:
        return access.at_object(ANY).is_custom_page()
    except ToolFailed:  # there is no such page at all
        return True


def _opens(access: AdminAccess, row: Model) -> bool:
    """Return whether the page of `row` opens for the user."""
    its_page = access.at_object(row.pk)
    obj: Model | None = row
    if is_overridden(access.model_admin, "get_object", "get_queryset"):
        obj = its_page.model_admin.get_object(its_page.request, str(row.pk))
    if obj is None or not its_page.may_see(obj) or not its_page.opens_page():
        return False
    access.memo[REAL, row.pk] = real_object(its_page, row)[0].label
    return True


def real_label(access: AdminAccess, row: Model) -> str:
    """Return the model of `row`, whose page opens: it may be one of a child."""
    return str(access.memo.get((REAL, row.pk), access.label))


def page_rows(access: AdminAccess, page: Page = "change") -> QuerySet[Any]:
    """Return the rows in which the page of an object looks it up."""
    request = access.at_object(ANY, page).request
    return access.model_admin.get_queryset(request).order_by()  # type: ignore[no-any-return]


def _lacks_page(access: AdminAccess, rows: QuerySet[Any]) -> bool:
    """Return whether the page of one of `rows` does not open, or there are too many."""
    if decides_by_object(access):
        first = list(rows[: MOST_ASKED + 1])
        return len(first) > MOST_ASKED or len(openable_keys(access, first)) < len(first)
    if not is_overridden(access.model_admin, "get_queryset"):
        return False
    return rows.order_by().exclude(pk__in=page_rows(access).values("pk")).exists()


# --- fields ---


def admin_fields(
    access: AdminAccess, obj: Model, *, in_list: bool = False
) -> list[Any]:
    """
    Return the fields of `obj` that its page or the list shows, in their order.

    These are fields of the model that are not sensitive. `in_list` says that the list
    has the object, which saves a query.
    """
    admin = access.model_admin
    methods = [getattr(type(admin), name) for name in ("get_form", *FIELD_METHODS)]
    is_plain = all(item.__module__.startswith("django.") for item in methods)
    if is_plain and in_list:
        return model_fields(access)
    shown = _any_form_fields(access) if is_plain else _form_fields(access, obj)
    columns = [field for field in list_fields(access) if field not in shown]
    if not columns:
        return shown  # to ask whether the list has it may take long
    if in_list or is_listed(access, obj):
        return model_fields(access) if is_plain else [*shown, *columns]
    return _form_fields(access, obj) if is_plain else shown


def limits_of(
    access: AdminAccess, obj: Model, fields: Iterable[Any], *, in_list: bool = False
) -> Limits:
    """Return the values of `fields` that the page of `obj` names, where not all."""
    admin = access.model_admin
    limited = [field for field in fields if may_limit(admin, field)]
    if limited and (in_list or is_listed(access, obj)):
        columns = list_names(access)
        limited = [field for field in limited if field.name not in columns]
    if not limited:
        return {}
    return form_limited_fields(admin, access.at_object(obj.pk).request, obj, limited)


def model_fields(access: AdminAccess) -> list[Any]:
    """
    Return the fields that the pages show of any object.

    For names in filters and the like. A ModelAdmin that decides by the object is
    asked with an empty one; if it fails, only the columns of the list count.
    """
    if FIELDS not in access.memo:
        shown = _any_form_fields(access)
        columns = [field for field in list_fields(access) if field not in shown]
        has_more = columns and opens_list(access)
        access.memo[FIELDS] = [*shown, *columns] if has_more else shown
    return access.memo[FIELDS]  # type: ignore[no-any-return]


def _form_fields(access: AdminAccess, obj: Model) -> list[Any]:
    """Return the fields that the page of `obj` shows."""
    return _open_fields(access.options, _form_names(access.at_object(obj.pk), obj))


def _any_form_fields(access: AdminAccess) -> list[Any]:
    """Return the fields that the page of an empty object shows."""
    if FORM_FIELDS not in access.memo:
        names: list[str] = value_or(
            [],
            lambda: _form_names(access.at_object(""), access.model()),
            "%s does not tell the fields of an empty object",
            access.label,
        )
        access.memo[FORM_FIELDS] = _open_fields(access.options, names)
    return access.memo[FORM_FIELDS]  # type: ignore[no-any-return]


def added_fields(access: AdminAccess) -> list[Any]:
    """Return the fields of the page that adds an object; none if the user may not."""
    add_page = access.at_page("add")
    if not add_page.model_admin.has_add_permission(add_page.request):
        return []
    return _open_fields(access.options, _form_names(add_page, None))


def list_fields(access: AdminAccess) -> list[Any]:
    """Return the columns of the list that are fields of the model."""
    return _open_fields(access.options, list_names(access))


def list_names(access: AdminAccess) -> list[str]:
    """Return the columns of the list that are strings."""
    columns = access.model_admin.get_list_display(access.request)
    return [name for name in columns if isinstance(name, str)]


def is_open_field(field: Any) -> bool:
    """Return whether a tool may show the field, if the page of the admin does."""
    if is_sensitive_field(field):
        return False
    if not field.is_relation:
        return True
    related = field.related_model
    if not isinstance(related, type) or is_closed(related):
        return False
    target = getattr(field, "target_field", None)
    return target is None or not is_sensitive_field(target)


def is_open_path(access: AdminAccess, name: str) -> bool:
    """
    Return whether nothing on the way of a search field or a column is sensitive.

    A name that is no field, as of a method of the admin, is the site's own.
    """
    options = access.options
    for part in name.lstrip("^=@").split(LOOKUP_SEP):
        fields = {field.name: field for field in options.get_fields()}
        field = options.pk if part == "pk" else fields.get(part)
        if field is None:  # a lookup
            return True
        if is_forward_field(field) and not is_open_field(field):
            return False
        related = field.related_model if field.is_relation else None
        if not isinstance(related, type):
            return True
        if is_closed_on(access.site, related):
            return False
        options = related._meta  # type: ignore[attr-defined]
    return True


def is_forward_field(field: Any) -> bool:
    """
    Return whether the field is one of the model itself, and no reverse relation.

    A many-to-many field is not concrete from Django 6.1 on.
    """
    return bool(field.concrete or (field.many_to_many and not field.auto_created))


def inline_fields(
    inline: Any, access: AdminAccess, obj: Model | None, formset: Any
) -> tuple[list[Any], list[str]]:
    """
    Return what an inline shows on the page of `obj`, or of a new object.

    The fields of its model, and the names of what only its form has.
    """
    shown = flatten_fieldsets(inline.get_fieldsets(access.request, obj))
    hidden = set(inline.get_exclude(access.request, obj) or ())
    if link := getattr(formset, "fk", None):  # to the object itself
        hidden.add(link.name)
    names = [name for name in shown if name not in hidden]
    return _open_fields(inline.opts, names), form_only_names(inline.opts, names)


def _form_names(access: AdminAccess, obj: Model | None) -> list[str]:
    admin, request = with_kept_forms(access), access.request
    names = flatten_fieldsets(admin.get_fieldsets(request, obj))
    hidden = set(admin.get_exclude(request, obj) or ())
    return [name for name in names if name not in hidden]


def _open_fields(options: Any, names: list[Any]) -> list[Any]:
    """Return the fields of these names that a tool may show, each once."""
    fields: dict[str, Any] = {}
    for name in names:
        if not isinstance(name, str):
            continue
        try:
            field = options.pk if name == "pk" else options.get_field(name)
        except FieldDoesNotExist:
            continue
        if is_forward_field(field) and is_open_field(field):
            fields.setdefault(field.name, field)
    return list(fields.values())
