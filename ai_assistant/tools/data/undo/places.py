"""The inlines in which an undo finds its objects, and the pages of these."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib.contenttypes.fields import GenericForeignKey
from django.db.models import Model
from django.forms.models import _get_foreign_key

from ai_assistant.changes.capture.images import in_batches
from ai_assistant.changes.capture.tables import by_table
from ai_assistant.safety.policy.admin_pages import is_overridden
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.form_classes import OF_ROWS, row_forms
from ai_assistant.tools.data.access.model_admin import AdminAccess, is_closed_on
from ai_assistant.tools.data.access.sites import mounted_sites
from ai_assistant.tools.data.undo.pages import posted, takes_post

IsHidden = Callable[[AdminAccess, Model], bool]


class InlinePage:
    """The page of an object in the admin, or that to add one, which has inlines."""

    def __init__(
        self, access: AdminAccess, parent: Model | None, is_hidden: IsHidden
    ) -> None:
        page = access.at_page("add") if parent is None else access.at_object(parent.pk)
        self.access, self.parent = posted(page), parent
        self._is_hidden = is_hidden

    @cached_property
    def inlines(self) -> list[Any]:
        """Its inlines, without those that the site leaves out."""
        admin, request = self.access.model_admin, self.access.request
        if is_overridden(admin, "get_formsets_with_inlines"):
            pairs = admin.get_formsets_with_inlines(request, self.parent)
            return [inline for _formset, inline in pairs]
        return list(admin.get_inline_instances(request, self.parent))

    @cached_property
    def may_change(self) -> bool:
        """Whether the person may post it."""
        admin, request = self.access.model_admin, self.access.request
        if self.parent is None:
            return bool(admin.has_add_permission(request))
        if self._is_hidden(self.access, self.parent):
            return False
        may = admin.has_change_permission(request, self.parent)
        return bool(may) and takes_post(self.access)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """An inline whose rows belong to a page of the admin."""

    page: InlinePage
    inline: Any

    @property
    def request(self) -> Any:
        """The request that posts the page."""
        return self.page.access.request

    @property
    def parent(self) -> Model | None:
        """The object of the page; None: it is not there."""
        return self.page.parent


class Places:
    """Where objects are shown on pages of others; what rows have in common once."""

    def __init__(
        self, access_to: Callable[[Any], AdminAccess | None], is_hidden: IsHidden
    ) -> None:
        self._access_to, self._is_hidden = access_to, is_hidden
        self._inlines: dict[Any, list[tuple[AdminAccess, Any]]] = {}
        self._parents: dict[Any, Model | None] = {}
        self._pages: dict[Any, InlinePage] = {}
        self._fields: dict[Any, dict[str, Any]] = {}

    def look_at(self, objects: Iterable[Model]) -> list[Model]:
        """Read at once the objects on whose pages these are, and return them."""
        for known in (self._inlines, self._parents, self._pages, self._fields):
            known.clear()
        for (model, _alias), those in by_table(objects).items():
            for access, inline in self._inlines_of(model):
                value_or(None, lambda: self._read_parents(access, inline, those))  # noqa: B023
        return [parent for parent in self._parents.values() if parent is not None]

    def of(self, obj: Model) -> Iterator[Place]:
        """Yield the inlines that show the object, on pages that the person may see."""
        for access, inline_class in self._inlines_of(type(obj)):
            parent = value_or(None, lambda: self._parent(access, inline_class, obj))  # noqa: B023
            page = self._page(access, parent)
            for inline in page.inlines:
                if type(inline) is inline_class:
                    yield Place(page=page, inline=inline)

    def fields_of(self, place: Place, obj: Model) -> dict[str, Any]:
        """Return the fields of the form of a row of an inline, by name."""
        parent = place.parent if is_overridden(place.inline, *OF_ROWS) else None
        own = getattr(parent, "pk", None)
        name = (place.page.access.model, type(place.inline), own, type(obj))
        if name not in self._fields:
            formset = place.inline.get_formset(place.request, place.parent)
            forms = row_forms(formset, place.inline)
            form, _inline = forms.get(type(obj), (formset.form, place.inline))
            self._fields[name] = form.base_fields
        return self._fields[name]

    def _inlines_of(self, model: Any) -> list[tuple[AdminAccess, Any]]:
        """Return the classes of the inlines of a model, with the access to their pages."""
        if model not in self._inlines:
            self._inlines[model] = list(self._find_inlines(model))
        return self._inlines[model]

    def _find_inlines(self, model: Any) -> Iterator[tuple[AdminAccess, Any]]:
        for site in mounted_sites():
            if is_closed_on(site, model):
                continue
            for shown, model_admin in site._registry.items():
                if not _has_inlines(model_admin):
                    continue
                access = self._access_to(shown)
                if access is None or access.site is not site:
                    continue
                for inline in access.model_admin.get_inlines(access.request, None):
                    if issubclass(model, inline.model):
                        yield access, inline

    def _page(self, access: AdminAccess, parent: Model | None) -> InlinePage:
        name = (access.model, getattr(parent, "pk", None))
        if name not in self._pages:
            self._pages[name] = InlinePage(access, parent, self._is_hidden)
        return self._pages[name]

    # --- the objects of the pages ---

    def _parent(self, access: AdminAccess, inline: Any, obj: Any) -> Model | None:
        """Return the object on whose page an inline shows `obj`; None: it is not there."""
        if (generic := _generic_key(inline)) is not None:
            found = getattr(obj, generic.name)
            return found if isinstance(found, access.model) else None
        name = (access.model, inline, getattr(obj, _key(access, inline).attname))
        if name not in self._parents:
            self._read_parents(access, inline, [obj])
        return self._parents[name]

    def _read_parents(
        self, access: AdminAccess, inline: Any, objects: Iterable[Any]
    ) -> None:
        if _generic_key(inline) is not None:
            return  # each has its own
        key = _key(access, inline)
        values = {getattr(obj, key.attname) for obj in objects}
        found: dict[Any, Model | None] = dict.fromkeys(values)
        target = key.target_field
        for some in in_batches(access.model._base_manager.all(), values, target.name):
            found |= {getattr(parent, target.attname): parent for parent in some}
        self._parents |= {
            (access.model, inline, value): parent for value, parent in found.items()
        }


def _key(access: AdminAccess, inline: Any) -> Any:
    """Return the foreign key from the rows of an inline to the object of its page."""
    return _get_foreign_key(access.model, inline.model, fk_name=inline.fk_name)


def _generic_key(inline: Any) -> Any:
    """Return the generic foreign key of an inline; None if it has a plain one."""
    ct_field = getattr(inline, "ct_fk_field", None)
    if not ct_field:
        return None
    return next(
        one
        for one in inline.model._meta.private_fields
        if isinstance(one, GenericForeignKey) and one.fk_field == ct_field
    )


def _has_inlines(admin: Any) -> bool:
    """Return whether the pages of a ModelAdmin show rows of others."""
    return bool(admin.inlines) or is_overridden(
        admin, "get_inlines", "get_inline_instances"
    )
