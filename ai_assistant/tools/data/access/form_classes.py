"""The form classes of a ModelAdmin, which take long to make: each once in a call."""

from collections.abc import Iterator
from copy import copy
from typing import Any

from django.db.models import Model
from django.forms import BaseModelForm

from ai_assistant.exceptions import ToolFailed
from ai_assistant.safety.policy import sensitive
from ai_assistant.safety.policy.admin_pages import is_overridden
from ai_assistant.tools.data.access.model_admin import AdminAccess, is_closed

KEPT = "kept"  # of AdminAccess.memo
FIELD_METHODS = ("get_fieldsets", "get_fields", "get_exclude", "get_readonly_fields")
FORMFIELD_METHODS = (
    *("formfield_for_dbfield", "formfield_for_foreignkey", "get_field_queryset"),
    *("formfield_for_manytomany", "formfield_for_choice_field"),
)
OF_INLINES = ("get_inlines", "get_inline_instances", "get_formsets_with_inlines")
OF_ROWS = (
    *("get_formset", *FIELD_METHODS, *FORMFIELD_METHODS),
    *("has_add_permission", "has_change_permission"),
    *("has_delete_permission", "has_view_permission"),
)


def with_kept_forms(access: AdminAccess) -> Any:
    """
    Return a copy of the ModelAdmin that makes each form class once.

    The ModelAdmin itself if code of the site may make another one at each call.
    """
    own = access.model_admin
    if is_overridden(own, "get_form", *FORMFIELD_METHODS):
        return own
    if KEPT not in access.memo:
        access.memo[KEPT] = _keeping(own)
    return access.memo[KEPT]


def with_forms_of_a_page(access: AdminAccess) -> Any:
    """
    Return a copy of the ModelAdmin that makes each form class once for one page.

    It is not for a second page: what code of the site chooses is asked again there.
    """
    own = access.model_admin
    if is_overridden(own, "get_form") or not is_overridden(own, *FORMFIELD_METHODS):
        return with_kept_forms(access)
    return _keeping(own)


def _keeping(own: Any) -> Any:
    keeping, kept = copy(own), KeptForms(own)
    keeping.get_form = kept.form
    if not is_overridden(own, *OF_INLINES):
        keeping.get_formsets_with_inlines = kept.formsets_with_inlines
    return keeping


def real_object(page: AdminAccess, obj: Model) -> tuple[AdminAccess, Model]:
    """
    Return the access to the real class of an object, and the object as one of it.

    A page that is code of the site may show a child, as that of django-polymorphic
    does; the child has to be in the admin, too.
    """
    shown = shown_form(page)
    real = getattr(shown, "instance", None)
    if real is None or type(real) is type(obj) or real.pk != obj.pk:
        return page, obj
    child = page.related(type(real))
    if child is None or not child.at_object(real.pk).may_see(real):
        return page, obj
    return child.at_object(real.pk), real


def adds_children(access: AdminAccess) -> bool:
    """
    Return whether the page that adds an object adds one of a child of its model.

    The page of a parent does so in django-polymorphic: it asks by a form of no model
    which one, or shows the form of the only one.
    """
    try:
        form = shown_form(access.at_page("add"))
    except ToolFailed:  # it does not open
        return False
    if isinstance(form, BaseModelForm):
        return type(form.instance) is not access.model
    return form is not None


def child_models(access: AdminAccess) -> list[str]:
    """Return the children of the model of which the user may add objects."""
    children = [
        child
        for model in access.site._registry
        if issubclass(model, access.model) and model is not access.model
        if (child := access.related(model)) is not None
    ]
    return sorted(
        child.label
        for child in children
        if child.model_admin.has_add_permission(child.at_page("add").request)
    )


def row_forms(formset: Any, inline: Any) -> dict[Any, tuple[Any, Any]]:
    """
    Return the form class and the inline of rows of an inline, by the class of the row.

    One of django-polymorphic has some for each child, all others for their model alone.
    """
    children = getattr(formset, "child_forms", None)
    if not children:
        return {inline.model: (formset.form, inline)}
    own = inline.get_child_inline_instance
    return {model: (form, own(model)) for model, form in children.items()}


def shown_form(page: AdminAccess) -> Any:
    """Return the form that a page of the site's own code shows, None if it is Django's."""
    if not page.is_custom_page():
        return None
    admin_form = page.page_context().get("adminform")
    return getattr(admin_form, "form", None)


def links_secrets(model: type[Model], form_field: Any) -> bool:
    """Return whether a field that only a form of `model` has links what no tool may."""
    links = getattr(form_field, "queryset", None)
    if links is None:
        return False
    return is_closed(links.model) or _links_rights(model, links.model)


def _links_rights(model: Any, other: Any) -> bool:
    """Return whether a sensitive many-to-many field links rows of the two models."""
    return any(
        sensitive.is_sensitive_field(relation)
        and issubclass(
            end._meta.concrete_model or end,
            relation.related_model._meta.concrete_model,  # or a child of its table
        )
        for start, end in ((model, other), (other, model))
        for relation in start._meta.many_to_many
    )


class KeptForms:
    """The form classes of one ModelAdmin, by the answers of what chooses their fields."""

    def __init__(self, model_admin: Any) -> None:
        self.model_admin = model_admin
        self.forms: dict[Any, Any] = {}
        self.formsets: dict[Any, list[Any]] = {}  # with their inlines, by the object

    def form(
        self, request: Any, obj: Any = None, change: Any = None, **kwargs: Any
    ) -> Any:
        """Return what `ModelAdmin.get_form` returns."""
        own = self.model_admin
        if {*kwargs} != {"fields"}:
            return own.get_form(request, obj, bool(change), **kwargs)
        readonly = tuple(own.get_readonly_fields(request, obj))
        excluded = tuple(own.get_exclude(request, obj) or ())
        may_edit = not change or own.has_change_permission(request, obj)
        answers, fields = (readonly, excluded, may_edit), kwargs["fields"]
        whole = self.forms.get((answers, None))
        if _has_all(whole, fields, readonly):
            return whole
        key = (answers, None if fields is None else tuple(fields))
        if key not in self.forms:
            self.forms[key] = own.get_form(request, obj, bool(change), **kwargs)
        return self.forms[key]

    def formsets_with_inlines(self, request: Any, obj: Any = None) -> Iterator[Any]:
        """Return what `ModelAdmin.get_formsets_with_inlines` returns."""
        key = getattr(obj, "pk", None)
        if key in self.formsets:
            return iter(self.formsets[key])
        inlines = self.model_admin.get_inline_instances(request, obj)
        is_same = not any(is_overridden(inline, *OF_ROWS) for inline in inlines)
        for inline in inlines:
            if not is_overridden(inline, "get_formset", *FIELD_METHODS):
                # A form class is made to know its fields, and asked for them twice.
                inline.get_fieldsets = _asked_once(inline.get_fieldsets)
        pairs = [(inline.get_formset(request, obj), inline) for inline in inlines]
        if is_same:
            self.formsets[key] = pairs
        return iter(pairs)


def _asked_once(ask: Any) -> Any:
    """Return `ask` for one page: what it has answered of an object, it answers again."""
    answers: dict[Any, Any] = {}

    def asked(request: Any, obj: Any = None) -> Any:
        key = getattr(obj, "pk", None)
        if key not in answers:
            answers[key] = ask(request, obj)
        return answers[key]

    return asked


def _has_all(whole: Any, fields: Any, readonly: tuple[Any, ...]) -> bool:
    """Return whether a form of all fields has just these, those read-only aside."""
    if whole is None or fields is None:
        return False
    return {*fields} - {*readonly} == {*whole.base_fields}
