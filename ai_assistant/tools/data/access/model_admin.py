"""The door to the rows of a model: its ModelAdmin, asked as the user."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite
from django.contrib.admin.utils import quote
from django.contrib.auth import get_permission_codename
from django.contrib.auth.models import Permission
from django.db.models import ForeignKey, Model
from django.http import HttpRequest
from django.utils.translation import gettext as _

from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.request_context import match_of
from ai_assistant.safety.policy.admin_pages import Page
from ai_assistant.safety.policy.sensitive import (
    is_opted_out,
    is_sensitive_field,
    is_sensitive_model,
)
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.tools.adapters.request import UnshownMessages, user_request
from ai_assistant.tools.data.access.sites import check_page, lets_in, path_on, sites_of
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.types import RunContext

LABEL_CHARS = 200
ID_CHARS = 500
MOST_NEAR = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class AdminAccess:
    """
    A ModelAdmin that lets the user in, and a request of that user to it.

    The request is one for the list; `at_object` gives the one of a page of an
    object. Each call of a tool looks anew; `memo` holds what one call asks often.
    """

    model_admin: Any
    request: HttpRequest
    model: type[Model]
    site: AdminSite
    memo: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def label(self) -> str:
        """The model as tools name it: "app.model"."""
        return self.model._meta.label_lower

    @property
    def options(self) -> Any:
        """The `_meta` of the model."""
        return self.model._meta


def find_door(context: RunContext, model: str, *, also: str = "") -> AdminAccess:
    """
    Return the door to "app.model", in letters of any case.

    Looks through every AdminSite that is mounted, that of the page first. A
    user who may see no objects, but may do what `also` says, "add" or "delete",
    comes in too. Raise ModelRetry, in the same words whether the model does not
    exist, is not in the admin, is opted out, is sensitive or may not be seen.
    """
    found = _model(model)
    sites = sites_of(context) if found else []
    if found and (door := _first(sites, found, context.user, also=also)):
        return door
    raise ModelRetry(
        f"There is no model {join_surrogates(model[:LABEL_CHARS])!r} that the user may see."
        f"{_near(context, model[:LABEL_CHARS])} list_models tells all of them."
    )


def related_door(door: AdminAccess, model: type[Model]) -> AdminAccess | None:
    """Return the door to another model on the same site, or None if it is closed."""
    if model not in door.memo:
        door.memo[model] = _open(door.site, model, door.request.user)
    found: AdminAccess | None = door.memo[model]
    return found


def visible_models(context: RunContext) -> list[AdminAccess]:
    """Return a door to each model that the user may see, by their labels."""
    sites = sites_of(context)
    registered = {model for site in sites for model in site._registry}
    found = (_first(sites, model, context.user) for model in registered)
    return sorted((door for door in found if door), key=lambda door: door.label)


def may_enter(context: RunContext) -> bool:
    """Tell whether some admin lets the user in; what it shows there is not asked."""
    user = context.user
    if not getattr(user, "is_active", False):
        return False
    request = user_request(user, "GET", context.page_path or "/")
    return any(lets_in(site, request) for site in sites_of(context))


def at_list(door: AdminAccess) -> AdminAccess:
    """Return the door with the request of the list, which it may have already."""
    match, options = door.request.resolver_match, door.options
    name = f"{options.app_label}_{options.model_name}_changelist"
    is_there = match is not None and match.url_name == name
    if is_there and door.request.method == "GET":
        return door
    return _at(door, "changelist")


def at_object(door: AdminAccess, object_id: Any, page: str = "change") -> AdminAccess:
    """Return the door with the request of a page of one object, as "change"."""
    return _at(door, page, quote(str(object_id)))


def at_add(door: AdminAccess) -> AdminAccess:
    """Return the door with the request of the page that adds an object."""
    return _at(door, "add")


def find_object(door: AdminAccess, object_id: Any, page: Page = "change") -> Any:
    """
    Return one object, as a page of the admin would load it for the user.

    Raise ModelRetry if there is none of that id, or the user may not see it, and
    ToolFailed if its page is code of the site, and does not open.
    """
    own = str(object_id)
    with wrong_values():
        if len(own) <= ID_CHARS and join_surrogates(own) == own:
            there = at_object(door, own, page)
            found = there.model_admin.get_object(there.request, own)
            if found is not None and may_see(there, found):
                check_page(there, page)
                return found
    raise ModelRetry(
        f"There is no {door.options.verbose_name} with the id "
        f"{join_surrogates(own[:LABEL_CHARS])!r}. search_objects finds ids."
    )


def may_see(door: AdminAccess, obj: Model | None = None) -> bool:
    """Tell whether the user may view or change `obj`, or such objects at all."""
    return bool(door.model_admin.has_view_or_change_permission(door.request, obj))


def is_closed(model: type[Any]) -> bool:
    """
    Tell whether no tool shows rows of the model, whoever asks.

    So are tables that are sensitive as a whole, those whose ids are a secret, those
    that only hold the links of a sensitive field, also by a proxy or a child of
    theirs, and those whose rows each give a permission. What a package has put into
    an admin for the sake of a page, and is no model, has no rows.
    """
    return (
        not issubclass(model, Model)
        or is_sensitive_model(model)
        or is_sensitive_field(model._meta.pk)
        or is_opted_out(model)
        or any(map(is_sensitive_field, _links(model)))
        or any(_is_right(key.related_model) for key in closed_keys(model))
    )


def is_closed_on(site: AdminSite, model: type[Model]) -> bool:
    """Tell whether the model is closed, or its admin on this site is opted out."""
    return is_closed(model) or is_opted_out(model, site._registry.get(model))


def closed_keys(model: type[Model]) -> Iterator[Any]:
    """
    Yield the relations that each row of the model needs, and no tool shows.

    What such a row means, only they tell: whose session, which permission it is.
    """
    for own in model._meta.concrete_fields:
        if isinstance(own, ForeignKey) and not (own.null or _is_parent_link(own)):
            related: Any = own.related_model
            if is_sensitive_field(own) or is_sensitive_model(related):
                yield own


def check_told(model: type[Model]) -> None:
    """Make sure that a row of the model can be told from another: else nobody writes."""
    if keys := list(closed_keys(model)):
        raise ToolFailed(
            _(
                "What a %(name)s means depends on what is kept from the assistant: "
                "%(fields)s."
            )
            % {
                "name": model._meta.verbose_name,
                "fields": ", ".join(str(key.verbose_name) for key in keys),
            },
            suggestion=_("Tell the person to do it in the admin."),
        )


def _links(model: type[Model]) -> Iterator[Any]:
    """Yield the many-to-many fields whose links are the rows of this table."""
    options = model._meta
    tables = {one._meta.db_table for one in (model, *options.all_parents)}
    for own in options.get_fields(include_hidden=True):
        related: Any = own.related_model if isinstance(own, ForeignKey) else None
        if isinstance(related, type):
            for many in related._meta.many_to_many:  # type: ignore[attr-defined]
                if many.remote_field.through._meta.db_table in tables:
                    yield many


def _is_right(model: Any) -> bool:
    return bool(issubclass(model, Permission))


def _is_parent_link(key: Any) -> bool:
    return bool(getattr(key.remote_field, "parent_link", False))


def _model(label: str) -> type[Model] | None:
    wanted = label[: LABEL_CHARS + 1].lower()
    every = apps.get_models()
    return next((one for one in every if one._meta.label.lower() == wanted), None)


def _first(
    sites: list[AdminSite],
    model: type[Model],
    user: Any,
    *,
    also: str = "",
) -> AdminAccess | None:
    """Return the door of the first site that opens one; None if none does."""
    doors = (_open(site, model, user, also=also) for site in sites)
    return next((door for door in doors if door), None)


def _open(
    site: AdminSite,
    model: type[Model],
    user: Any,
    *,
    also: str = "",
) -> AdminAccess | None:
    """Return the door that `site` has to the model; None if it stays closed."""
    model_admin = site._registry.get(model)
    if model_admin is None or is_closed_on(site, model):
        return None
    bare = AdminAccess(
        model_admin=model_admin, request=HttpRequest(), model=model, site=site
    )
    door = _at(bare, "changelist", user=user)
    if not lets_in(site, door.request):
        return None
    return door if may_see(door) or (also and _may(door, also)) else None


def _may(door: AdminAccess, what: str) -> bool:
    """Tell whether the user may do it at all, or perhaps with some object."""
    codename = get_permission_codename(what, door.options)
    permission = f"{door.options.app_label}.{codename}"
    has = getattr(door.model_admin, f"has_{what}_permission")
    return bool(has(door.request) or door.request.user.has_perm(permission))


def _at(door: AdminAccess, page: str, *args: str, user: Any = None) -> AdminAccess:
    options = door.options
    name = f"{options.app_label}_{options.model_name}_{page}"
    path = path_on(door.site, name, *args) or "/"
    request = user_request(user or door.request.user, "GET", path)
    request.resolver_match = match_of(path)
    request._messages = UnshownMessages(request)  # type: ignore[attr-defined]
    request.current_app = door.site.name
    return replace(door, request=request)


def _near(context: RunContext, wanted: str) -> str:
    """Return a sentence with models of like names, of those that the user sees."""
    names: dict[str, str] = {}
    for door in visible_models(context):
        options = door.options
        for name in (door.label, options.model_name, str(options.verbose_name_plural)):
            names.setdefault(name.lower(), door.label)
    last = wanted.lower().rpartition(".")[2]
    close = [
        *get_close_matches(wanted.lower(), names, n=MOST_NEAR),
        *get_close_matches(last, names, n=MOST_NEAR),
    ]
    near = list(dict.fromkeys(names[name] for name in close))[:MOST_NEAR]
    return f" Near it: {', '.join(near)}." if near else ""
