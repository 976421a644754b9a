"""What a person may change, add and delete in the admin now, object by object."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.changes.capture.images import Image, in_batches
from ai_assistant.changes.capture.tables import by_table
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
)
from ai_assistant.tools.data.access.sites import lacks_second_factor
from ai_assistant.tools.data.undo.pages import (
    as_its_admin_has_it,
    may_confirm,
    posted,
    posting,
    takes_post,
    with_proxies,
)
from ai_assistant.tools.data.undo.places import Places

Fields = dict[str, Any]  # of a form, by name
FINDERS = ("get_queryset", "get_object")  # the methods that find an object
SEERS = (
    "has_view_or_change_permission",
    "has_view_permission",
    "has_change_permission",
)
# The methods of a ModelAdmin that choose what a field offers, perhaps by the object.
FORM_FIELDS = (
    *("formfield_for_foreignkey", "formfield_for_manytomany"),
    *("formfield_for_choice_field", "get_field_queryset"),
)


class AdminPermissions:
    """The permissions of one person, asked of the ModelAdmins of the site."""

    def __init__(self, user: Any) -> None:
        self._user = user
        self._accesses: dict[tuple[Any, str], AdminAccess | None] = {}
        self._forms: dict[Any, Fields] = {}
        self._adding: dict[Any, tuple[bool, bool]] = {}
        self._found: set[tuple[Any, Any]] = set()  # model and key
        self._needs_factor: dict[Any, bool] = {}  # by model
        self._places = Places(self._access, self._hidden)

    def look_at(self, objects: Iterable[Model]) -> None:
        """Read at once what pages these objects are on, and which of them are found."""
        every = list(objects)
        every += self._places.look_at(every)
        self._found.clear()
        shown = (as_its_admin_has_it(obj, self._access(type(obj))) for obj in every)
        for (model, _alias), those in by_table(shown).items():
            access = self._access(model)
            if access is None or is_overridden(access.model_admin, *FINDERS):
                continue  # it finds each by itself
            for rows in in_batches(
                model._default_manager.all(), [obj.pk for obj in those]
            ):
                keys = rows.values_list("pk", flat=True)
                self._found.update((model, key) for key in keys)

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
        for place in self._places.of(obj):
            if place.parent is None or not place.page.may_change:
                continue
            if not place.inline.has_change_permission(place.request, place.parent):
                continue
            return _reasons(place.inline, self._places.fields_of(place, obj), obj, raws)
        return {"": self._refusal(type(obj), _("You may not change it."))}

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
            may_add, is_saved = self._at_add_page(access)
            if may_add and self._may_see(access, instance):
                return "" if is_saved else _("You may not add it.")
        for place in self._places.of(instance):
            may = place.inline.has_add_permission(place.request, place.parent)
            if may and place.page.may_change:
                return ""
        return self._refusal(type(instance), _("You may not add it."))

    def _at_add_page(self, access: AdminAccess) -> tuple[bool, bool]:
        """Return whether the person may add objects, and whether that page saves them."""
        if access.model not in self._adding:
            page = posted(access.at_page("add"))
            may_add = page.model_admin.has_add_permission(page.request)
            self._adding[access.model] = bool(may_add), may_add and takes_post(page)
        return self._adding[access.model]

    @staticmethod
    def _may_see(access: AdminAccess, instance: Model) -> bool:
        """Return whether the person would see the object on its page."""
        if not is_overridden(access.model_admin, *SEERS):
            return access.may_see()  # which object it is makes no difference
        return access.at_object(instance.pk).may_see(instance)

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
        for place in self._places.of(obj):
            may = place.inline.has_delete_permission(place.request, place.parent)
            is_offered = place.parent is not None and place.inline.can_delete
            if may and is_offered and place.page.may_change:
                return ""
        return self._refusal(type(obj), _("You may not delete it."))

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
            return self._refusal(type(owner), refused)
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

    def _refusal(self, model: Any, otherwise: str) -> str:
        """Return why no page lets the person write rows of a model."""
        if model not in self._needs_factor:
            self._needs_factor[model] = lacks_second_factor(self._user, model)
        if not self._needs_factor[model]:
            return otherwise
        return _(
            "Its admin asks for a second factor: sign in with one in the browser, "
            "and undo it there."
        )

    # --- where an object is in the admin ---

    def _access(self, model: Any, perm: str = "") -> AdminAccess | None:
        if (model, perm) not in self._accesses:
            found = (
                access_of(self._user, one, perm=perm) for one in with_proxies(model)
            )
            self._accesses[model, perm] = next(filter(None, found), None)
        return self._accesses[model, perm]

    def _hidden(self, page: AdminAccess, obj: Model) -> bool:
        """Return whether the page of the object does not find it, or shows it to others."""
        if not self._is_found(page, obj):
            return True
        return not page.may_see(obj) and page.page == "change"

    def _is_found(self, page: AdminAccess, obj: Model) -> bool:
        admin, model = page.model_admin, type(obj)
        if is_overridden(admin, *FINDERS):
            return admin.get_object(page.request, str(obj.pk)) is not None
        is_known = (model, obj.pk) in self._found
        return is_known or model._default_manager.filter(pk=obj.pk).exists()


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
