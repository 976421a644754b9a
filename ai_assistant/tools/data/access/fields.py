"""The fields of a model that the pages of its ModelAdmin show to the user."""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model

from ai_assistant.safety.policy.form_limits import (
    Limits,
    form_limited_fields,
    may_limit,
)
from ai_assistant.safety.policy.sensitive import is_sensitive_field
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    is_closed,
)
from ai_assistant.tools.data.access.visibility import is_listed, opens_list

FIELDS = "fields"  # a key of AdminAccess.memo
# The methods of a ModelAdmin that choose the fields of a page, perhaps by the object.
FIELD_METHODS = ("get_fieldsets", "get_fields", "get_readonly_fields", "get_exclude")


def admin_fields(
    access: AdminAccess, obj: Model, *, in_list: bool = False
) -> list[Any]:
    """
    Return the fields of `obj` that its page or the list shows, in their order.

    These are fields of the model that are not sensitive. `in_list` says that the list
    has the object, which saves a query.
    """
    admin = access.model_admin
    is_in_list = in_list or is_listed(access, obj)
    methods = [getattr(type(admin), name) for name in ("get_form", *FIELD_METHODS)]
    if is_in_list and all(item.__module__.startswith("django.") for item in methods):
        return model_fields(access)
    columns = list_names(access) if is_in_list else []
    return _open_fields(
        access.options, [*_form_names(access.at_object(obj.pk), obj), *columns]
    )


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
        names: list[str] = value_or(
            [],
            lambda: _form_names(access.at_object(""), access.model()),
            "%s does not tell the fields of an empty object",
            access.label,
        )
        columns = list_names(access) if opens_list(access) else []
        access.memo[FIELDS] = _open_fields(access.options, [*names, *columns])
    return access.memo[FIELDS]  # type: ignore[no-any-return]


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
    """Tell whether a tool may show the field, if the page of the admin does."""
    if is_sensitive_field(field):
        return False
    if not field.is_relation:
        return True
    related = field.related_model
    if not isinstance(related, type) or is_closed(related):
        return False
    target = getattr(field, "target_field", None)
    return target is None or not is_sensitive_field(target)


def is_forward_field(field: Any) -> bool:
    """
    Tell whether the field is one of the model itself, and no reverse relation.

    A many-to-many field is not concrete from Django 6.1 on.
    """
    return bool(field.concrete or (field.many_to_many and not field.auto_created))


def inline_fields(
    inline: Any, access: AdminAccess, obj: Model, formset: Any
) -> list[Any]:
    """Return the fields that an inline shows on the page of `obj`."""
    names = flatten_fieldsets(inline.get_fieldsets(access.request, obj))
    hidden = set(inline.get_exclude(access.request, obj) or ())
    if link := getattr(formset, "fk", None):  # to the object itself
        hidden.add(link.name)
    return _open_fields(inline.opts, [name for name in names if name not in hidden])


def _form_names(access: AdminAccess, obj: Model | None) -> list[str]:
    admin, request = access.model_admin, access.request
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
