"""The inlines in which an undo finds its objects, and the pages of these."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.contrib.contenttypes.fields import GenericForeignKey
from django.db.models import Model
from django.forms.models import _get_foreign_key

from ai_assistant.changes.capture.images import in_batches
from ai_assistant.changes.capture.tables import by_table
from ai_assistant.safety.policy.admin_pages import is_overridden
from ai_assistant.safety.policy.nested_inlines import inline_ways, nested_inlines
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
    """An inline whose rows belong to a page of the admin, or to a row on it."""

    page: InlinePage
    inline: Any
    parent: Model | None  # the object of the page, or the row; None: it is not there

    @property
    def request(self) -> Any:
        """The request that posts the page."""
        return self.page.access.request


@dataclass(frozen=True, kw_only=True, slots=True)
class _Way:
    """The classes of inlines that lead from a page to its rows, or those within rows."""

    access: AdminAccess  # to the page
    inlines: tuple[Any, ...]

    @property
    def above(self) -> "_Way":
        """The way to the rows that have these rows in them."""
        return replace(self, inlines=self.inlines[:-1])

    @property
    def owner_model(self) -> Any:
        """The model of what the rows belong to."""
        return self.above.inlines[-1].model if self.above.inlines else self.access.model


class Places:
    """Where objects are shown on pages of others; what rows have in common once."""

    def __init__(
        self, access_to: Callable[[Any], AdminAccess | None], is_hidden: IsHidden
    ) -> None:
        self._access_to, self._is_hidden = access_to, is_hidden
        self._ways: dict[Any, list[_Way]] = {}
        self._owners: dict[Any, Model | None] = {}
        # Some of these would be added again, with rows in them.
        self._looked_at: list[Model] = []
        self._pages: dict[Any, InlinePage] = {}
        self._fields: dict[Any, dict[str, Any]] = {}

    def look_at(self, objects: Iterable[Model]) -> list[Model]:
        """Read at once the objects on whose pages these are, and return them."""
        for known in (self._ways, self._owners, self._pages, self._fields):
            known.clear()
        self._looked_at = list(objects)
        for (model, _alias), those in by_table(self._looked_at).items():
            for way in self._ways_to(model):
                value_or(None, lambda: self._read_owners(way, those))  # noqa: B023
        return [owner for owner in self._owners.values() if owner is not None]

    def of(self, obj: Model) -> Iterator[Place]:
        """Yield the inlines that show the object, on pages that the person may see."""
        for way in self._ways_to(type(obj)):
            owners = self._owners_on(way, obj)
            page = self._page(way.access, owners[0])
            for inline in self._inlines_at(page, way, owners):
                yield Place(page=page, inline=inline, parent=owners[-1])

    def _inlines_at(
        self, page: InlinePage, way: _Way, owners: list[Model | None]
    ) -> list[Any]:
        """Return the inlines at the end of a way, if its page has them for the person."""
        found = page.inlines
        for place, (kind, owner) in enumerate(zip(way.inlines, owners, strict=True)):
            found = [one for one in found if type(one) is kind]
            if place < len(way.inlines) - 1:
                admin, request = page.access.model_admin, page.access.request
                found = [
                    nested
                    for one in found
                    for nested in nested_inlines(admin, one, request, owner)
                ]
        return found

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

    def _ways_to(self, model: Any) -> list[_Way]:
        """Return the ways to the rows of a model, from the pages that show them."""
        if model not in self._ways:
            self._ways[model] = list(self._find_ways(model))
        return self._ways[model]

    def _find_ways(self, model: Any) -> Iterator[_Way]:
        for site in mounted_sites():
            if is_closed_on(site, model):
                continue
            for shown, model_admin in site._registry.items():
                if not _has_inlines(model_admin):
                    continue
                access = self._access_to(shown)
                if access is None or access.site is not site:
                    continue
                for inlines in inline_ways(access.model_admin, access.request):
                    if issubclass(model, inlines[-1].model):
                        yield _Way(access=access, inlines=inlines)

    def _page(self, access: AdminAccess, parent: Model | None) -> InlinePage:
        name = (access.model, getattr(parent, "pk", None))
        if name not in self._pages:
            self._pages[name] = InlinePage(access, parent, self._is_hidden)
        return self._pages[name]

    # --- the objects of the pages, and the rows on them ---

    def _owners_on(self, way: _Way, obj: Any) -> list[Model | None]:
        """Return the object of the page, then the rows that lead to `obj`."""
        owners: list[Model | None] = []
        below: Any = obj
        while way.inlines:
            found = None
            if below is not None:
                found = value_or(None, lambda: self._owner(way, below))  # noqa: B023
            owners.append(found)
            way, below = way.above, found
        return owners[::-1]

    def _owner(self, way: _Way, obj: Any) -> Model | None:
        """Return what `obj` belongs to, as a row of an inline; None: it is not there."""
        if (generic := _generic_key(way.inlines[-1])) is not None:
            found = getattr(obj, generic.name)
            return found if isinstance(found, way.owner_model) else None
        name = (way.owner_model, way.inlines[-1], getattr(obj, _key(way).attname))
        if name not in self._owners:
            self._read_owners(way, [obj])
        return self._owners[name]

    def _read_owners(self, way: _Way, objects: Iterable[Any]) -> None:
        """Read what the rows of an inline belong to, up to the objects of the pages."""
        inline = way.inlines[-1]
        if _generic_key(inline) is not None:
            return  # each has its own
        key = _key(way)
        values = {getattr(obj, key.attname) for obj in objects}
        found: dict[Any, Model | None] = dict.fromkeys(values)
        target = key.target_field
        owners = way.owner_model._base_manager.all()
        for some in in_batches(owners, values, target.name):
            found |= {getattr(owner, target.attname): owner for owner in some}
        if way.above.inlines and None in found.values():
            for owner in self._looked_at:
                value = getattr(owner, target.attname, None)
                if isinstance(owner, way.owner_model) and value in found:
                    found[value] = found[value] or owner
        self._owners |= {
            (way.owner_model, inline, value): owner for value, owner in found.items()
        }
        rows = [owner for owner in found.values() if owner is not None]
        if rows and way.above.inlines:
            self._read_owners(way.above, rows)


def _key(way: _Way) -> Any:
    """Return the foreign key from the rows of an inline to what they belong to."""
    inline = way.inlines[-1]
    return _get_foreign_key(way.owner_model, inline.model, fk_name=inline.fk_name)


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
