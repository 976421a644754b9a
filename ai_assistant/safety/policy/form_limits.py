"""
The relations and choices that the form of an object offers.

A form may offer fewer objects than there are: by `formfield_for_foreignkey` and the
like, by `limit_choices_to`, by a manager. What it does not offer it does not name either.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.admin.widgets import (
    ForeignKeyRawIdWidget,
    ManyToManyRawIdWidget,
    RelatedFieldWidgetWrapper,
)
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from ai_assistant.safety.policy.admin_pages import is_overridden
from ai_assistant.safety.policy.sensitive import (
    is_secret_name,
    is_sensitive_field,
    mask_secrets,
)
from ai_assistant.safety.site_code import value_or

Limits = Mapping[str, Any]  # by name of a field: its objects, or its choices

FORM = ("get_form", "formfield_for_dbfield")
ROW_FORM = ("get_formset", "formfield_for_dbfield")


def may_limit(model_admin: Any, field: Any) -> bool:
    """Return whether the form of a ModelAdmin, or of an inline, may name less."""
    if not (field.is_relation or field.flatchoices):
        return False
    return says_itself(model_admin) or _is_limited(model_admin, field)


def says_itself(model_admin: Any) -> bool:
    """Return whether the form is code of the site, and may decide by the object."""
    hooks = FORM if hasattr(model_admin, "get_form") else ROW_FORM
    return model_admin.form is not forms.ModelForm or is_overridden(model_admin, *hooks)


def form_limited_fields(
    model_admin: Any,
    request: HttpRequest,
    obj: Model,
    fields: Iterable[Any],
) -> Limits:
    """
    Return the limits of `fields` on the page of `obj`, where its form has any.

    `request` is one of that page.
    """
    limitable = [field for field in fields if may_limit(model_admin, field)]
    if not limitable or not model_admin.has_change_permission(request, obj):
        return {}  # all fields are read-only then: these name everything
    form = value_or(
        None,
        lambda: admin_form_class(model_admin, request, obj)(instance=copy(obj)),
        "the form of %r could not be made",
        model_admin,
    )
    return form_limits(form, limitable)


def admin_form_class(model_admin: Any, request: HttpRequest, obj: Model | None) -> Any:
    """Return the form class that the user gets on the page of `obj`."""
    names = flatten_fieldsets(model_admin.get_fieldsets(request, obj))
    return model_admin.get_form(request, obj, change=obj is not None, fields=names)


def form_only_values(
    model_admin: Any, request: HttpRequest, obj: Model
) -> dict[str, Any]:
    """
    Return what the form on the page of `obj` shows beyond the fields of its model.

    As translated texts, or a tick of the form itself. No secrets, files or relations.
    """
    shown = flatten_fieldsets(model_admin.get_fieldsets(request, obj))
    names = form_only_names(model_admin.opts, shown)
    if not names or not model_admin.has_change_permission(request, obj):
        return {}
    form = value_or(
        None,
        lambda: admin_form_class(model_admin, request, obj)(instance=copy(obj)),
        "the form of %r could not be made",
        model_admin,
    )
    return {} if form is None else values_of_form(form, names)


def form_language(model_admin: Any, request: HttpRequest, obj: Model) -> str:
    """Return the code of the language whose texts the page of `obj` shows, if it says."""
    form_class = value_or(None, lambda: admin_form_class(model_admin, request, obj))
    return language_code(form_class)


def language_code(form: Any) -> str:
    """Return the code of the language in which a form shows texts, if it has one."""
    code = getattr(form, "language_code", "")  # that of django-parler does
    return code if code in dict(settings.LANGUAGES) else ""


def values_of_form(form: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return the first values of some fields of a form: none that is kept from tools."""
    return {
        name: plain_value(form, name)
        for name in names
        if name in form.fields and _may_be_read(form, name)
    }


def plain_value(form: Any, name: str) -> Any:
    """Return the first value of a field of a form, as JSON, without secrets in it."""
    value = form.get_initial_for_field(form.fields[name], name)
    is_plain = value is None or isinstance(value, bool | int | float | list | dict)
    return mask_secrets(value if is_plain else str(value))


def form_only_names(options: Any, names: Iterable[Any]) -> list[str]:
    """Return those of the names that a page shows which the model does not have."""
    return [name for name in names if _is_form_only(options, name)]


def _is_form_only(options: Any, name: Any) -> bool:
    try:
        options.get_field(name)
    except FieldDoesNotExist:
        return True
    return False


def _may_be_read(form: Any, name: str) -> bool:
    field = form.fields[name]
    is_input = not isinstance(field, forms.FileField) and not hasattr(field, "queryset")
    is_password = isinstance(unwrapped_widget(field.widget), forms.PasswordInput)
    if not is_input or is_password:
        return False
    try:
        column = form._meta.model._meta.get_field(name)
    except FieldDoesNotExist:
        return not is_secret_name(name)
    return not (column.is_relation or is_sensitive_field(column))


def form_limits(form: Any, fields: Iterable[Any]) -> Limits:
    """Return what a form names of these fields; nothing at all if there is no form."""
    if form is None:
        return {field.name: () for field in fields}
    limits = {
        field.name: _limit(form.fields.get(field.name), field) for field in fields
    }
    return {name: limit for name, limit in limits.items() if limit is not None}


def named_among(limit: Any, values: Iterable[Any], name: str = "pk") -> set[Any]:
    """Return those of `values` that a limit names; of objects, by their `name`."""
    if not isinstance(limit, QuerySet):
        return {value for value in values if str(value) in limit}
    if limit.query.is_sliced or limit.query.combinator:
        return {*values} & {*limit.values_list(name, flat=True)}
    queryset = limit.order_by().filter(**{f"{name}__in": [*values]})
    return set(queryset.values_list(name, flat=True))


def names_value(limit: Any, field: Any, value: Any) -> bool:
    """Return whether a form with this limit names the value of a field, if any."""
    target = field.target_field.name if field.is_relation else ""
    return value is None or bool(named_among(limit, [value], target))


def _is_limited(model_admin: Any, field: Any) -> bool:
    if not field.is_relation:
        return is_overridden(model_admin, "formfield_for_choice_field")
    kind = (
        "formfield_for_manytomany" if field.many_to_many else "formfield_for_foreignkey"
    )
    return (
        is_overridden(model_admin, kind, "get_field_queryset")
        or bool(getattr(field, "get_limit_choices_to", dict)())
        or _hides(field.related_model)
        or any(
            "queryset" in kwargs for kwargs in model_admin.formfield_overrides.values()
        )
    )


def _hides(model: Any) -> bool:
    """Return whether the default manager of a model may leave rows out."""
    manager = type(model._default_manager)
    return not manager.get_queryset.__module__.startswith("django.db.")


def _limit(form_field: Any, field: Any) -> Any:
    """Return what a field of a form names; None if that is all, as where it is read-only."""
    if form_field is None:
        return None
    if isinstance(form_field, forms.ModelChoiceField):
        # An input for ids shows them, whatever they lead to.
        raw_id = ForeignKeyRawIdWidget | ManyToManyRawIdWidget
        if isinstance(unwrapped_widget(form_field.widget), raw_id):
            return field.related_model._default_manager.all()
        return form_field.queryset
    choices = getattr(form_field, "choices", None)
    return None if choices is None else frozenset(_keys(choices))


def unwrapped_widget(widget: Any) -> Any:
    """Return the widget itself, without what the admin puts around it."""
    while isinstance(widget, RelatedFieldWidgetWrapper):
        widget = widget.widget
    return widget


def _keys(choices: Any) -> Iterable[str]:
    """Yield the values of choices, those in groups too."""
    for key, label in choices:
        if isinstance(label, list | tuple):
            yield from (str(value) for value, _label in label)
        else:
            yield str(key)
