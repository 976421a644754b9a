"""What a person may change, add and delete in the admin now, object by object."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.images import Image
from ai_assistant.changes.undo.columns import python_value
from ai_assistant.changes.undo.links import owner_of
from ai_assistant.changes.verify.auto_fields import is_volatile
from ai_assistant.safety.policy.admin_pages import is_overridden
from ai_assistant.safety.policy.form_limits import (
    admin_form_class,
    form_limits,
    may_limit,
    names_value,
    says_itself,
)
from ai_assistant.safety.policy.sensitive import RIGHTS, is_sensitive_field
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.form_classes import FIELD_METHODS, with_kept_forms
from ai_assistant.tools.data.access.model_admin import (
    AdminAccess,
    access_of,
    is_closed_on,
)
from ai_assistant.tools.data.access.sites import mounted_sites
from ai_assistant.tools.data.undo.pages import (
    as_its_admin_has_it,
    has_inlines,
    may_confirm,
    parent_of,
    posted,
    posting,
    shown_inlines,
    takes_post,
    with_proxies,
)

Fields = dict[str, Any]  # of a form, by name
# The methods of a ModelAdmin that choose what a field offers, perhaps by the object.
FORM_FIELDS = (
    *("formfield_for_foreignkey", "formfield_for_manytomany"),
    *("formfield_for_choice_field", "get_field_queryset"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """An inline whose rows belong to a page of the admin, and the object of that page."""

    access: AdminAccess  # to the model of the page
    inline: Any
    parent: Model | None  # None: it is not there


class AdminPermissions:
    """The permissions of one person, asked of the ModelAdmins of the site."""

    def __init__(self, user: Any) -> None:
        self._user = user
        self._accesses: dict[tuple[Any, str], AdminAccess | None] = {}
        self._forms: dict[Any, Fields] = {}

    # --- objects that stay ---

    def to_change(self, obj: Model, raws: Mapping[str, Any]) -> dict[str, str]:
        """Return why columns may not be changed, by attname; "" is the whole object."""
        access = self._access(type(obj))
        page = posting(access, obj.pk)
        obj = as_its_admin_has_it(obj, access)
        if page is None or self._hidden(page, obj):
            return self._to_change_inline(obj, raws)
        may = page.model_admin.has_change_permission(page.request, obj)
        if not may or not takes_post(page):
            return {"": _("You may not change it.")}
        fields = self._form_fields(page, obj)
        return _reasons(page.model_admin, fields, obj, raws)

    def _to_change_inline(self, obj: Model, raws: Mapping[str, Any]) -> dict[str, str]:
        for place in self._places(obj):
            request = place.access.request
            if place.parent is None or not self._may_change_page(place):
                continue
            if not place.inline.has_change_permission(request, place.parent):
                continue
            formset = place.inline.get_formset(request, place.parent)
            return _reasons(place.inline, formset.form.base_fields, obj, raws)
        return {"": _("You may not change it.")}

    def _form_fields(self, page: AdminAccess, obj: Model) -> Fields:
        """Return the fields of the object's form, which may be that of others too."""
        admin, none = page.model_admin, Fields()
        kept = with_kept_forms(page)
        may_differ = says_itself(admin) or is_overridden(admin, *FORM_FIELDS)
        is_same_for_all = not may_differ and not is_overridden(admin, *FIELD_METHODS)
        if is_same_for_all and page.model in self._forms:
            return self._forms[page.model]
        made = value_or(
            None,
            lambda: admin_form_class(kept, page.request, obj),
            "the form of %r could not be made",
            admin,
        )
        if may_differ:
            return value_or(none, lambda: made(instance=obj).fields)
        name = page.model if is_same_for_all else made
        if name not in self._forms:
            self._forms[name] = value_or(none, lambda: made(instance=obj).fields)
        return self._forms[name]

    # --- objects that come and go ---

    def to_create(self, instance: Model) -> str:
        """Return why the object may not be added again."""
        if self._gives_rights(instance):
            return _("It gives rights that you do not have.")
        access = self._access(type(instance), "add")
        instance = as_its_admin_has_it(instance, access)
        if access is not None:
            page = posted(access.at_page("add"))
            admin, request = page.model_admin, page.request
            its_page = access.at_object(instance.pk)
            if admin.has_add_permission(request) and its_page.may_see(instance):
                return "" if takes_post(page) else _("You may not add it.")
        for place in self._places(instance):
            may = place.inline.has_add_permission(place.access.request, place.parent)
            if may and self._may_change_page(place):
                return ""
        return _("You may not add it.")

    def to_delete(self, obj: Model) -> str:
        """Return why the object may not be deleted."""
        access = self._access(type(obj), "delete")
        page = posting(access, obj.pk, "delete")
        obj = as_its_admin_has_it(obj, access)
        if (
            page is not None
            and not self._hidden(page, obj)
            and page.model_admin.has_delete_permission(page.request, obj)
        ):
            return "" if may_confirm(page, obj) else _("You may not delete it.")
        for place in self._places(obj):
            may = place.inline.has_delete_permission(place.access.request, place.parent)
            is_offered = place.parent is not None and place.inline.can_delete
            if may and is_offered and self._may_change_page(place):
                return ""
        return _("You may not delete it.")

    def to_delete_any(self, model: Any) -> str:
        """
        Return why no object of this model may be deleted.

        One that is on no page of its own goes with the object of its page.
        """
        access = self._access(model)
        if access is None or access.model_admin.has_delete_permission(access.request):
            return ""
        return _("You may not delete it.")

    def to_link(self, through: Any, image: Image) -> str:
        """Return why two objects may not be linked, or their link removed."""
        found = value_or(None, lambda: owner_of(through, image, "default"))
        refused = _("You may not change it.")
        if found is None:
            return refused
        field, owner, _other = found
        if is_sensitive_field(field):
            return refused
        access = self._access(type(owner))
        page = posting(access, owner.pk)
        owner = as_its_admin_has_it(owner, access)
        if page is None or self._hidden(page, owner):
            return refused
        may = page.model_admin.has_change_permission(page.request, owner)
        if not may or not takes_post(page):
            return refused
        form_field = self._form_fields(page, owner).get(field.name)
        is_there = form_field is not None and not form_field.disabled
        inlines = page.model_admin.get_inline_instances(page.request, owner)
        is_inline = any(inline.model is through for inline in inlines)
        return "" if is_there or is_inline else refused

    def _gives_rights(self, instance: Any) -> bool:
        if getattr(self._user, "is_superuser", False):
            return False
        is_user = hasattr(instance, "has_perm")
        return is_user and any(
            getattr(instance, name, False) is True for name in RIGHTS
        )

    # --- where an object is in the admin ---

    def _access(self, model: Any, perm: str = "") -> AdminAccess | None:
        if (model, perm) not in self._accesses:
            found = (
                access_of(self._user, one, perm=perm) for one in with_proxies(model)
            )
            self._accesses[model, perm] = next(filter(None, found), None)
        return self._accesses[model, perm]

    @staticmethod
    def _hidden(page: AdminAccess, obj: Model) -> bool:
        """Return whether the page of the object does not find it, or shows it to others."""
        admin, request = page.model_admin, page.request
        if is_overridden(admin, "get_queryset", "get_object"):
            if admin.get_object(request, str(obj.pk)) is None:
                return True
        elif not type(obj)._default_manager.filter(pk=obj.pk).exists():
            return True
        return not page.may_see(obj) and page.page == "change"

    def _places(self, obj: Model) -> Iterator[Place]:
        """Yield the inlines that show the object, on pages that the person may see."""
        for site in mounted_sites():
            for model in site._registry:
                if not has_inlines(site._registry[model]):
                    continue
                access = self._access(model)
                if access is None or access.site is not site:
                    continue
                yield from self._places_on(access, obj)

    def _places_on(self, access: AdminAccess, obj: Model) -> Iterator[Place]:
        for inline_class in access.model_admin.get_inlines(access.request, None):
            if not issubclass(type(obj), inline_class.model):
                continue
            if is_closed_on(access.site, type(obj)):
                continue
            parent = value_or(None, lambda: parent_of(access, inline_class, obj))  # noqa: B023
            page = access.at_object(parent.pk) if parent else access.at_page("add")
            page = posted(page)
            for inline in shown_inlines(page, parent):
                if type(inline) is inline_class:
                    yield Place(access=page, inline=inline, parent=parent)

    def _may_change_page(self, place: Place) -> bool:
        admin, request = place.access.model_admin, place.access.request
        if place.parent is None:
            return bool(admin.has_add_permission(request))
        if self._hidden(place.access, place.parent):
            return False
        may = admin.has_change_permission(request, place.parent)
        return bool(may) and takes_post(place.access)


def _reasons(
    admin: Any, fields: Fields, obj: Model, raws: Mapping[str, Any]
) -> dict[str, str]:
    """Return why the form of an object would not set these columns, by attname."""
    options = obj._meta
    by_attname = {field.attname: field for field in options.concrete_fields}
    reasons = {}
    for attname, raw in raws.items():
        field = by_attname[attname]
        reason = _reason(admin, fields, field, raw)
        if reason:
            reasons[attname] = reason
    return reasons


def _reason(admin: Any, fields: Fields, field: Any, raw: Any) -> str:
    name = capfirst(str(field.verbose_name))
    refused = _("%(field)s cannot be changed on its page in the admin.") % {
        "field": name
    }
    if is_sensitive_field(field):
        return refused
    if not field.editable or is_volatile(field):
        return ""  # no form has it: the site keeps it beside what people write
    form_field = fields.get(field.name)
    if form_field is None or form_field.disabled:
        return refused
    if may_limit(admin, field):
        limit = form_limits(_Form(fields), [field]).get(field.name)
        value = value_or(None, lambda: python_value(field, raw))
        if limit is not None and not names_value(limit, field, value):
            return _(
                "%(field)s: its page in the admin does not offer the old value."
            ) % {"field": name}
    return ""


@dataclass(frozen=True, slots=True)
class _Form:
    fields: Fields
