"""The ModelAdmins of a site, called as the user."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite
from django.contrib.admin import site as default_site
from django.contrib.admin.utils import quote
from django.contrib.auth import get_permission_codename
from django.contrib.auth.models import Permission
from django.db.models import ForeignKey, Model
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import override

from ai_assistant.exceptions import ModelRetry, ToolFailed
from ai_assistant.modules.resolve import module_of
from ai_assistant.request_context import language_of
from ai_assistant.safety.policy import admin_pages, sensitive
from ai_assistant.safety.policy.admin_pages import Page
from ai_assistant.text.unicode import join_surrogates
from ai_assistant.tools.adapters.request import (
    admin_page,
    admin_request,
    page_closed,
)
from ai_assistant.tools.data.access.sites import (
    asking_request,
    lets_in,
    mounted_sites,
    sites_of,
)
from ai_assistant.tools.data.errors import wrong_values
from ai_assistant.types import RunContext

LABEL_CHARS = 200
ID_CHARS = 500
MOST_NEAR = 3
OPENED = "opened"  # of AdminAccess.memo: the path of the last page, and its response


@dataclass(frozen=True, kw_only=True, slots=True)
class AdminAccess:
    """
    A ModelAdmin that lets the user in, and a request of that user to one of its pages.

    It is for the list; `at_page` and `at_object` return it for another page. Each
    call of a tool makes its own; `memo` caches answers for that call.
    """

    model_admin: Any
    model: type[Model]
    site: AdminSite
    request: HttpRequest
    page: Page = "changelist"
    memo: dict[Any, Any] = dataclasses.field(default_factory=dict)

    @property
    def label(self) -> str:
        """The model as tools name it: "app.model"."""
        return self.model._meta.label_lower

    @property
    def options(self) -> Any:
        """The `_meta` of the model."""
        return self.model._meta

    def at_page(self, page: Page, *args: str) -> "AdminAccess":
        """Return the access with a request for another page, as "add"."""
        request = _page_request(self.site, self.model, self.request, page, *args)
        return replace(self, page=page, request=request)

    def at_object(self, object_id: Any, page: Page = "change") -> "AdminAccess":
        """Return the access with a request for a page of one object."""
        return self.at_page(page, quote(str(object_id)))

    def related(self, model: type[Model]) -> "AdminAccess | None":
        """Return the access to another model on the same site; None if it is closed."""
        if model not in self.memo:
            self.memo[model] = _open(self.site, model, self.request)
        return self.memo[model]  # type: ignore[no-any-return]

    def may_see(self, obj: Model | None = None) -> bool:
        """Return whether the user may view or change `obj`, or such objects at all."""
        return bool(self.model_admin.has_view_or_change_permission(self.request, obj))

    def is_custom_page(self) -> bool:
        """
        Return whether the page is code of the site.

        Raise ToolFailed if there is no such page at all.
        """
        if self.request.resolver_match is None:
            raise page_closed()
        return admin_pages.is_own_page(self.model_admin, self.request, self.page)

    def check_page(self) -> Any:
        """
        Return the response of a custom page of the site, None for a page of Django's.

        Raise ToolFailed if it does not open for the user.
        """
        return self._shown_page() if self.is_custom_page() else None

    def page_context(self) -> dict[str, Any]:
        """Return the context of a page that has one; of one just checked, the same."""
        path, response = self.memo.pop(OPENED, ("", None))
        if path != self.request.get_full_path():
            response = self._shown_page()
        return response.context_data or {}

    def _shown_page(self) -> Any:
        admin, request = self.model_admin, self.request
        adds = self.page == "add"
        response = admin_pages.shown_page(admin, request, follows=adds)
        if response is None:
            raise page_closed()
        self.memo[OPENED] = self.request.get_full_path(), response
        return response

    def opens_page(self) -> bool:
        """Return whether the page opens for the user; one of Django's always does."""
        try:
            self.check_page()
        except ToolFailed:
            return False
        return True


def find_access(context: RunContext, model: str, *, perm: str = "") -> AdminAccess:
    """
    Return the access to "app.model", whatever its case.

    Every mounted AdminSite is searched, that of the page first. A user who may not
    view objects, but has the permission `perm`, "add" or "delete", gets in too.
    Raise ModelRetry, in the same words whether the model does not exist, is not in
    the admin, is opted out, is sensitive or may not be seen.
    """
    label = model[: LABEL_CHARS + 1].lower()
    check_model(context, label)
    models = (item for item in apps.get_models() if item._meta.label.lower() == label)
    if found_model := next(models, None):
        access = _first(sites_of(context), found_model, _asking(context), perm=perm)
        if access is not None:
            return access
    raise ModelRetry(
        f"There is no model {join_surrogates(model[:LABEL_CHARS])!r} that the user "
        f"may see.{_similar_models(context, model[:LABEL_CHARS])} list_models lists "
        "all of them."
    )


def check_model(context: RunContext, label: str) -> None:
    """Raise ModelRetry if the row of the page's module leaves out a model."""
    models = module_of(context).configured.models
    if models and label not in models:
        raise ModelRetry(
            f"On this page the tools for rows work with these models only: "
            f"{', '.join(models)}."
        )


def access_of(
    user: Any, model: type[Model], *, perm: str = "", asking: HttpRequest | None = None
) -> AdminAccess | None:
    """
    Return the access to a model, whatever the page; None if it is closed.

    `asking` is an `asking_request` of the user, where that was made before.
    """
    default_first = sorted(mounted_sites(), key=lambda one: one is not default_site)
    asking = asking_request(user) if asking is None else asking
    return _first(default_first, model, asking, perm=perm)


def visible_models(context: RunContext) -> list[AdminAccess]:
    """Return the access to each model that the user may see, sorted by label."""
    sites = sites_of(context)
    registered = {model for site in sites for model in site._registry}
    asking = _asking(context)
    limits = module_of(context).configured
    if limits.models:
        registered = {
            one for one in registered if one._meta.label_lower in limits.models
        }
    visible = (_first(sites, model, asking) for model in registered)
    return sorted(filter(None, visible), key=lambda access: access.label)


def find_object(access: AdminAccess, object_id: Any, page: Page = "change") -> Any:
    """
    Return one object, as a page of the admin would load it for the user.

    Raise ModelRetry if there is none with that id, or the user may not see it, and
    ToolFailed if its page is code of the site and does not open.
    """
    text = str(object_id)
    with wrong_values():
        if len(text) <= ID_CHARS and join_surrogates(text) == text:
            its_page = access.at_object(text, page)
            obj = its_page.model_admin.get_object(its_page.request, text)
            if obj is not None and its_page.may_see(obj):
                its_page.check_page()
                return obj
    raise ModelRetry(
        f"There is no {access.options.verbose_name} with the id "
        f"{join_surrogates(text[:LABEL_CHARS])!r}. search_objects finds ids."
    )


def is_closed(model: type[Any]) -> bool:
    """
    Return whether no tool shows rows of the model to any user.

    These are sensitive models, those whose primary key is sensitive, tables that hold
    the links of a sensitive many-to-many field, with their proxies and children, and
    models whose rows each grant a permission. Registered classes that are not models,
    which packages use for a page, have no rows.
    """
    return (
        not issubclass(model, Model)
        or sensitive.is_sensitive_model(model)
        or sensitive.is_sensitive_field(model._meta.pk)
        or sensitive.is_opted_out(model)
        or any(map(sensitive.is_sensitive_field, links_of(model)))
        or any(issubclass(key.related_model, Permission) for key in closed_keys(model))
    )


def is_closed_on(site: AdminSite, model: type[Model]) -> bool:
    """Return whether the model is closed, or its admin on this site is opted out."""
    return is_closed(model) or sensitive.is_opted_out(model, site._registry.get(model))


def is_closed_inline(site: AdminSite, inline: Any) -> bool:
    """Return whether no tool reads or writes the rows of an inline of this site."""
    model = inline.model
    return is_closed_on(site, model) or sensitive.is_opted_out(model, inline)


def closed_keys(model: type[Model]) -> Iterator[Any]:
    """
    Yield the required foreign keys that no tool may read.

    Rows are ambiguous without them: whose session, which permission.
    """
    for field in model._meta.concrete_fields:
        if not isinstance(field, ForeignKey) or field.null:
            continue
        related: Any = field.related_model
        if field.remote_field.parent_link:
            continue
        if sensitive.is_sensitive_field(field) or sensitive.is_sensitive_model(related):
            yield field


def links_of(model: type[Model]) -> Iterator[Any]:
    """Yield the many-to-many fields whose links are the rows of this table."""
    options = model._meta
    tables = {parent._meta.db_table for parent in (model, *options.all_parents)}
    for field in options.get_fields(include_hidden=True):
        related: Any = field.related_model if isinstance(field, ForeignKey) else None
        if isinstance(related, type):
            for relation in related._meta.many_to_many:  # type: ignore[attr-defined]
                if relation.remote_field.through._meta.db_table in tables:
                    yield relation


def check_distinguishable(model: type[Model]) -> None:
    """Raise ToolFailed if rows are ambiguous without fields that no tool shows."""
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


def check_writable(access: AdminAccess) -> None:
    """Raise ToolFailed if no data tool may write rows of the model."""
    check_distinguishable(access.model)
    if sensitive.is_read_only(access.model, access.model_admin):
        raise ToolFailed(
            _("The data tools only read %(names)s.")
            % {"names": access.options.verbose_name_plural},
            suggestion=_("Use a tool that is made for it, or tell the person."),
        )


def _first(
    sites: list[AdminSite], model: type[Model], asking: HttpRequest, *, perm: str = ""
) -> AdminAccess | None:
    """Return the access through the first site that lets the user in, or None."""
    opened = (_open(site, model, asking, perm=perm) for site in sites)
    return next(filter(None, opened), None)


def _open(
    site: AdminSite, model: type[Model], asking: HttpRequest, *, perm: str = ""
) -> AdminAccess | None:
    model_admin = site._registry.get(model)
    if model_admin is None or is_closed_on(site, model):
        return None
    request = _page_request(site, model, asking, "changelist")
    access = AdminAccess(
        model_admin=model_admin, model=model, site=site, request=request
    )
    if not lets_in(site, request):
        return None
    return access if access.may_see() or (perm and _may(access, perm)) else None


def _may(access: AdminAccess, action: str) -> bool:
    """Return whether the user may add or delete objects, or at least some."""
    codename = get_permission_codename(action, access.options)
    permission = f"{access.options.app_label}.{codename}"
    has = getattr(access.model_admin, f"has_{action}_permission")
    return bool(has(access.request) or access.request.user.has_perm(permission))


def _asking(context: RunContext) -> HttpRequest:
    """Return a request for the page of the user."""
    return asking_request(context.user, context.run_id, context.page_path)


def _page_request(
    site: AdminSite, model: type[Model], asking: HttpRequest, page: str, *args: str
) -> HttpRequest:
    """Return a request for a page; with the query of that page, if the user is on it."""
    options = model._meta
    name = f"{options.app_label}_{options.model_name}_{page}"
    user, session = asking.user, asking.session
    its_page = admin_page(site, name, *args)
    request = admin_request(user, "GET", its_page, session=session)
    request.current_app = site.name
    opened = asking.opened  # type: ignore[attr-defined]
    request.opened = opened  # type: ignore[attr-defined]
    if opened.query and page in ("add", "change"):
        with override(language_of(opened.path)):  # it may be asked for on another page
            path, _match = admin_page(site, name, *args)
            is_opened = opened.path == path
        if is_opened:
            request.GET = QueryDict(opened.query)
            request.META["QUERY_STRING"] = opened.query
    return request


def _similar_models(context: RunContext, text: str) -> str:
    """Return a sentence with visible models of similar names, or an empty text."""
    names: dict[str, str] = {}
    for access in visible_models(context):
        options = access.options
        for name in (
            access.label,
            options.model_name,
            str(options.verbose_name_plural),
        ):
            names.setdefault(name.lower(), access.label)
    last = text.lower().rpartition(".")[2]
    close = [
        *get_close_matches(text.lower(), names, n=MOST_NEAR),
        *get_close_matches(last, names, n=MOST_NEAR),
    ]
    near = list(dict.fromkeys(names[name] for name in close))[:MOST_NEAR]
    return f" Similar: {', '.join(near)}." if near else ""
