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
    at_add,
    at_object,
    is_closed,
)
from ai_assistant.tools.data.access.shown import is_listed, opens_list

FIELDS = "fields"  # of the memo of a door
# Where a ModelAdmin says which fields a page has, perhaps of the object.
SAYS = ("get_fieldsets", "get_fields", "get_form", "get_readonly_fields", "get_exclude")


def admin_fields(door: AdminAccess, obj: Model, *, in_list: bool = False) -> list[Any]:
    """
    Return the fields of `obj` that its page or the list shows, in their order.

    Model fields only, many-to-many ones too; sensitive ones are left out. `in_list`
    says that the list has it, so that nobody has to look.
    """
    is_in_list = in_list or is_listed(door, obj)
    if is_in_list and not says_by_object(door.model_admin):
        return model_fields(door)
    there = at_object(door, obj.pk)
    columns = list_names(door) if is_in_list else []
    return _open_fields(door, [*_form_names(there, obj), *columns])


def limits_of(
    door: AdminAccess, obj: Model, fields: Iterable[Any], *, in_list: bool = False
) -> Limits:
    """Return what the page of `obj` names of `fields`, where that is not all."""
    admin = door.model_admin
    asked = [own for own in fields if may_limit(admin, own)]
    if asked and (in_list or is_listed(door, obj)):
        columns = list_names(door)
        asked = [own for own in asked if own.name not in columns]
    if not asked:
        return {}
    return form_limited_fields(admin, at_object(door, obj.pk).request, obj, asked)


def model_fields(door: AdminAccess) -> list[Any]:
    """
    Return the fields that the pages show of an object of which nothing is known.

    For names in filters and the like. A ModelAdmin that decides by the object is
    asked with an empty one; if it fails, only the columns of the list count.
    """
    if FIELDS not in door.memo:
        columns = list_names(door) if opens_list(door) else []
        names = [*_blank_names(door), *columns]
        door.memo[FIELDS] = _open_fields(door, names)
    found: list[Any] = door.memo[FIELDS]
    return found


def added_fields(door: AdminAccess) -> list[Any]:
    """Return the fields of the page that adds an object; none if the user may not."""
    there = at_add(door)
    if not there.model_admin.has_add_permission(there.request):
        return []
    return _open_fields(door, _form_names(there, None))


def list_fields(door: AdminAccess) -> list[Any]:
    """Return the plain columns of the list that are fields of the model."""
    return _open_fields(door, list_names(door))


def list_names(door: AdminAccess) -> list[str]:
    """Return the columns of the list that are named by a text."""
    columns = door.model_admin.get_list_display(door.request)
    return [name for name in columns if isinstance(name, str)]


def says_by_object(model_admin: Any) -> bool:
    """Tell whether the ModelAdmin has code of its own that says what is shown."""
    own = (getattr(type(model_admin), name) for name in SAYS)
    return any(not method.__module__.startswith("django.") for method in own)


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


def is_own(field: Any) -> bool:
    """
    Tell whether the model itself has the field: it is no relation from elsewhere.

    One to many others has no column of its own from Django 6.1 on.
    """
    return bool(field.concrete or (field.many_to_many and not field.auto_created))


def inline_fields(
    inline: Any, door: AdminAccess, obj: Model, formset: Any
) -> list[Any]:
    """Return the fields that an inline shows on the page of `obj`, if it is `door`'s."""
    names = flatten_fieldsets(inline.get_fieldsets(door.request, obj))
    hidden = set(inline.get_exclude(door.request, obj) or ())
    if link := getattr(formset, "fk", None):  # to the object itself
        hidden.add(link.name)
    return _open_of(inline.opts, names, hidden)


def _blank_names(door: AdminAccess) -> list[str]:
    # The code of a site may need more than an empty object.
    return value_or(
        [],
        lambda: _form_names(at_object(door, ""), door.model()),
        "%s does not tell the fields of an empty object",
        door.label,
    )


def _form_names(door: AdminAccess, obj: Model | None) -> list[str]:
    admin, request = door.model_admin, door.request
    names = flatten_fieldsets(admin.get_fieldsets(request, obj))
    hidden = set(admin.get_exclude(request, obj) or ())
    return [name for name in names if name not in hidden]


def _open_fields(door: AdminAccess, names: list[str]) -> list[Any]:
    return _open_of(door.options, names)


def _open_of(options: Any, names: list[Any], hidden: Any = None) -> list[Any]:
    found: dict[str, Any] = {}
    for name in names:
        field = _field(options, name)
        wanted = field is not None and name not in (hidden or ())
        if field is not None and wanted and is_open_field(field):
            found.setdefault(field.name, field)
    return list(found.values())


def _field(options: Any, name: Any) -> Any:
    """Return the field of that name that the model itself has, or None."""
    if not isinstance(name, str):
        return None
    try:
        field = options.pk if name == "pk" else options.get_field(name)
    except FieldDoesNotExist:
        return None
    return field if is_own(field) else None
