"""List the models, and describe the fields of one."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.admin.utils import flatten_fieldsets
from django.http import HttpRequest
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from ai_assistant.changes.values import currency_field
from ai_assistant.safety.policy import sensitive
from ai_assistant.safety.policy.form_limits import (
    Limits,
    form_limited_fields,
    form_only_names,
)
from ai_assistant.safety.policy.nested_inlines import MOST_LEVELS
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.form_classes import (
    adds_children,
    child_models,
    links_secrets,
    row_forms,
    with_kept_forms,
)
from ai_assistant.tools.data.access.lookups import custom_filters
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    find_access,
    is_closed_inline,
    visible_models,
)
from ai_assistant.tools.data.access.visibility import (
    added_fields,
    inline_fields,
    is_open_field,
    model_fields,
)
from ai_assistant.tools.data.arguments import data_tool
from ai_assistant.tools.data.reading.inlines import open_inlines, open_nested
from ai_assistant.tools.summary import model_words
from ai_assistant.types import JSON, RunContext

MOST_CHOICES = 30
HELP_CHARS = 200
BUILT_IN = "delete_selected"  # a tool of its own deletes
EMPTY_VALUES: Any = ("", [], None, False)


def _models_summary(_arguments: dict[str, Any], data: Any) -> str:
    return ngettext(
        "Looked at the list of models: %(count)d",
        "Looked at the list of models: %(count)d",
        len(data),
    ) % {"count": len(data)}


def _fields_summary(_arguments: dict[str, Any], data: Any) -> str:
    models = {"models": model_words(data["model"])}
    return gettext("Looked up the fields of %(models)s") % models


@data_tool(effect="read", label=_("Models"), icon="table", summary=_models_summary)
def list_models(context: RunContext) -> list[dict[str, JSON]]:
    """Tell the models whose objects the user may see, and what is allowed there."""
    return [
        {
            "model": access.label,
            "name": str(access.options.verbose_name_plural),
            "may": _may(access),
        }
        for access in visible_models(context)
    ]


@data_tool(effect="read", label=_("Fields"), icon="table", summary=_fields_summary)
def describe_model(context: RunContext, model: str) -> dict[str, JSON]:
    """
    Tell fields, filters, inlines and actions of a model.

    Call it before other data tools, if you do not know the fields.
    """
    access = find_access(context, model)
    may, (names, form) = _may(access), _form_of(access)
    description: dict[str, JSON] = {
        "model": access.label,
        "name": str(access.options.verbose_name),
        "may": may,
        "fields": [
            *_fields(access, form),
            *_form_only_fields(access.model, names, form.fields if form else {}),
        ],
        "child_models": _child_models(access) if "add" in may else [],
        "search": bool(access.model_admin.get_search_fields(access.request)),
        "list_filters": {
            spec.parameter_name: _filter_choices(access, spec)
            for spec in custom_filters(access)
        },
        "inlines": _inlines(access),
        "actions": _actions(access),
    }
    return {key: value for key, value in description.items() if value not in ([], {})}


def _child_models(access: AdminAccess) -> list[JSON]:
    return [*child_models(access)] if adds_children(access) else []


def _may(access: AdminAccess) -> list[str]:
    admin, request = access.model_admin, access.request
    view = ["view"] if admin.has_view_or_change_permission(request) else []
    if sensitive.is_read_only(access.model, admin):
        return view
    names = ("add", "change", "delete")
    may = [name for name in names if getattr(admin, f"has_{name}_permission")(request)]
    return view + may


def _fields(access: AdminAccess, form: Any) -> list[dict[str, JSON]]:
    fields = {
        field.name: field for field in [*model_fields(access), *added_fields(access)]
    }
    request, blank = access.at_object("").request, access.model()
    readonly = set(access.model_admin.get_readonly_fields(request, blank))
    choices = [field for field in fields.values() if field.flatchoices]
    limits = form_limited_fields(access.model_admin, request, blank, choices)
    readonly |= _read_only(access.model, access.model_admin, fields)
    inputs = form.fields if form else {}
    return [
        _field(field, limits, inputs, is_readonly=name in readonly)
        for name, field in fields.items()
    ]


def _read_only(model: Any, model_admin: Any, names: Iterable[str]) -> set[str]:
    return {name for name in names if sensitive.is_read_only(model, model_admin, name)}


def _form_only_fields(
    model: Any, names: Iterable[str], inputs: Mapping[str, Any]
) -> list[dict[str, JSON]]:
    """Return the fields that a form shows and the model does not have."""
    return [
        _form_only_field(name, inputs[name])
        for name in form_only_names(model._meta, names)
        if name in inputs
        and not sensitive.is_secret_name(name)
        and not links_secrets(model, inputs[name])
    ]


def _form_of(access: AdminAccess) -> tuple[list[str], Any]:
    """Return the fields of the page that adds an object, and its form."""
    page = access.at_page("add")
    nothing: tuple[list[str], Any] = ([], None)
    return value_or(
        nothing,
        lambda: _added_form(with_kept_forms(page), page.request),
        "%s does not tell the form of a new object",
        access.label,
    )


def _added_form(own: Any, request: HttpRequest) -> tuple[list[str], Any]:
    if not own.has_add_permission(request):
        return [], None
    names = flatten_fieldsets(own.get_fieldsets(request, None))
    form_class = own.get_form(request, None, change=False, fields=names)
    return names, form_class(initial=own.get_changeform_initial_data(request))


def _form_only_field(name: str, field: Any) -> dict[str, JSON]:
    links = getattr(field, "queryset", None)
    is_link = hasattr(field, "queryset")
    choices = [] if is_link else list(getattr(field, "choices", ()))[:MOST_CHOICES]
    description: dict[str, JSON] = {
        "name": name,
        "type": type(field).__name__,
        "label": str(field.label or name.replace("_", " ")),
        "required": field.required and not field.disabled,
        "readonly": field.disabled,
        "model": "" if links is None else links.model._meta.label_lower,
        "choices": [
            {"value": str(value), "label": str(label)} for value, label in choices
        ],
        "help": str(field.help_text)[:HELP_CHARS],
        "max_length": getattr(field, "max_length", None),
    }
    return {
        key: value for key, value in description.items() if value not in EMPTY_VALUES
    }


def _field(
    field: Any, limits: Limits, inputs: Mapping[str, Any], *, is_readonly: bool
) -> dict[str, JSON]:
    limit = limits.get(field.name)
    choices = [
        {"value": value, "label": str(label)}
        for value, label in field.flatchoices
        if limit is None or str(value) in limit
    ]
    description: dict[str, JSON] = {
        "name": field.name,
        "type": field.get_internal_type(),
        "label": str(field.verbose_name),
        "required": not is_readonly and _is_required(field, inputs),
        "readonly": is_readonly or not field.editable,
        "model": field.related_model._meta.label_lower if field.is_relation else "",
        "choices": choices[:MOST_CHOICES],
        "help": str(field.help_text)[:HELP_CHARS],
        "max_length": field.max_length,
        "currency": _currency_name(field),
    }
    return {
        key: value for key, value in description.items() if value not in EMPTY_VALUES
    }


def _currency_name(field: Any) -> str:
    """Return by which name rows are filtered by the currency of an amount, if it has one."""
    currency = currency_field(field)
    return currency.name if currency is not None and is_open_field(currency) else ""


def _is_required(field: Any, inputs: Mapping[str, Any]) -> bool:
    """Return whether a value has to be given: the form decides, if it is known."""
    if field.has_default():
        return False
    own = inputs.get(field.name)
    if own is None:
        return not (inputs or field.blank)
    return bool(own.required and not own.disabled)


def _filter_choices(access: AdminAccess, spec: Any) -> list[str]:
    list_filter = spec(access.request, {}, access.model, access.model_admin)
    return [str(choice) for choice, _label in list_filter.lookup_choices]


def _inlines(access: AdminAccess) -> list[dict[str, JSON]]:
    told = value_or(None, lambda: _inlines_of(access.at_object(""), access.model()))
    if told is not None:
        return told
    # The code of a site, as that of django-parler, may need more than an empty object.
    return value_or(
        [],
        lambda: _inlines_of(access.at_page("add"), None),
        "%s does not tell the inlines of a new object",
        access.label,
    )


def _inlines_of(page: AdminAccess, obj: Any) -> list[dict[str, JSON]]:
    return [_inline(page, *pair, obj) for pair in open_inlines(page, obj)]


def _inline(
    page: AdminAccess, formset: Any, inline: Any, owner: Any, depth: int = 0
) -> dict[str, JSON]:
    """Describe an inline of `owner`, an object or an empty row, and those in its rows."""
    told: dict[str, JSON] = {
        "name": formset.get_default_prefix(),
        "model": inline.opts.label_lower,
        "fields": [],
    }
    children: dict[str, JSON] = {}
    for model, (form_class, own) in row_forms(formset, inline).items():
        fields = _row_fields(page, owner, formset, form_class, own)
        if model is inline.model:
            told["fields"] = fields
        elif not is_closed_inline(page.site, own):
            children[model._meta.label_lower] = fields
    if children:
        told["child_models"] = children
    nested = open_nested(page, inline, owner) if depth < MOST_LEVELS else []
    if nested:
        told["inlines"] = [
            _inline(page, *pair, inline.model(), depth + 1) for pair in nested
        ]
    return told


def _row_fields(
    page: AdminAccess, obj: Any, formset: Any, form_class: Any, inline: Any
) -> list[JSON]:
    visible, form_only = inline_fields(inline, page, obj, formset)
    readonly = set(inline.get_readonly_fields(page.request, obj))
    readonly |= _read_only(inline.model, inline, [field.name for field in visible])
    inputs = form_class.base_fields
    return [
        *(
            _field(field, {}, inputs, is_readonly=field.name in readonly)
            for field in visible
        ),
        *_form_only_fields(inline.model, form_only, inputs),
    ]


def _actions(access: AdminAccess) -> dict[str, str]:
    """Return the actions of the list by name, with their descriptions."""
    actions: dict[str, str] = {}
    for name, text in access.model_admin.get_action_choices(access.request):
        group = text if isinstance(text, list | tuple) else [(name, text)]
        actions |= {action: str(label) for action, label in group}
    return {name: text for name, text in actions.items() if name not in ("", BUILT_IN)}
