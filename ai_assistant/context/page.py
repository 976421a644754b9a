"""Resolve the path of a page. Asks no database."""

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any
from urllib.parse import urlsplit

from django.contrib.admin.options import BaseModelAdmin
from django.contrib.admin.sites import AdminSite, all_sites
from django.contrib.admin.utils import unquote
from django.db.models import Model
from django.http import QueryDict
from django.urls import NoReverseMatch, ResolverMatch, get_resolver, reverse

from ai_assistant.request_context import match_of
from ai_assistant.types import PageInfo

ADMIN_ACTIONS = frozenset({"changelist", "add", "change", "delete", "history"})
ADMIN_PAGES: Mapping[str, str] = {"index": "index", "app_list": "app_list"}
OWN_PARAMETERS = frozenset({"q", "p", "o", "all", "e"})  # of Django's changelist
# Of the argument of a view with the key of its object: Django's, and django-guardian's.
KEY_NAMES = ("object_id", "object_pk")
MAX_FILTERS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class SitePage:
    """A page of this site, and the view that serves it."""

    info: PageInfo
    view: Any  # the view function
    query: QueryDict
    match: ResolverMatch
    model_admin: Any = None  # of a page of the admin

    @property
    def is_of_admin(self) -> bool:
        """Whether an AdminSite serves the page."""
        return "admin" in self.match.app_names


def find_page(path: str, title: str = "") -> SitePage | None:
    """Return the page at `path`, a path of this site with its query, or None."""
    try:
        parts = urlsplit(path)
    except ValueError:
        return None
    # A path of another site, such as //other.example/admin/, is not a page of this one.
    match = None if parts.scheme or parts.netloc else match_of(parts.path)
    if match is None:
        return None
    return page_of(match, QueryDict(parts.query), path=path, title=title)


def page_of(
    match: ResolverMatch, query: QueryDict, *, path: str = "", title: str = ""
) -> SitePage:
    """Return the page that a view serves."""
    model_admin = _model_admin(match)
    info = _info(match, model_admin, query, path=path, title=title)
    return SitePage(
        info=info, view=match.func, model_admin=model_admin, query=query, match=match
    )


def page_info(path: str, title: str = "") -> PageInfo:
    """Return the facts of the page at `path`; only the path if it is unknown."""
    page = find_page(path, title)
    return page.info if page else PageInfo(path=path, title=title)


def _model_admin(match: ResolverMatch) -> Any:
    """Return the ModelAdmin whose page it is; none if what it is of is no model."""
    found = _named_admin(match)
    return found if has_model(found) else None


def has_model(model_admin: Any) -> bool:
    """Return whether a ModelAdmin is of a model; that of django-constance is of none."""
    model = getattr(model_admin, "model", None)
    return isinstance(model, type) and issubclass(model, Model)


def _named_admin(match: ResolverMatch) -> Any:
    """
    Return the ModelAdmin whose page it is, also of one that a package adds to it.

    Such a view is one of its methods, or at least named as its pages are.
    """
    view: Any = match.func
    own = getattr(view, "model_admin", None)
    while own is None and view is not None:
        method_of = getattr(view, "__self__", None)
        own = method_of if isinstance(method_of, BaseModelAdmin) else None
        view = getattr(view, "__wrapped__", None)
    if own is not None or "admin" not in match.app_names or not match.url_name:
        return own
    found = [
        (len(f"{model._meta.app_label}_{model._meta.model_name}_"), model_admin)
        for site in admin_sites(match)
        for model, model_admin in site._registry.items()
        if match.url_name.startswith(
            f"{model._meta.app_label}_{model._meta.model_name}_"
        )
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def admin_sites(match: ResolverMatch) -> list[AdminSite]:
    """
    Return the AdminSite that serves the page; none if it is not of an admin.

    A view that was added to its URLs does not know it: then it is the one whose
    index has the same namespace, or any of that name if there is no such index.
    """
    if "admin" not in match.app_names:
        return []
    site = getattr(match.func, "admin_site", None) or _site_of_index(match)
    if site is not None:
        return [site]
    return [site for site in all_sites if site.name in match.namespaces]


def _site_of_index(match: ResolverMatch) -> AdminSite | None:
    depth = match.app_names.index("admin") + 1
    try:
        path = reverse(":".join([*match.namespaces[:depth], "index"]))
    except NoReverseMatch:
        return None
    index = match_of(path)
    return getattr(index.func, "admin_site", None) if index else None


def _info(
    match: ResolverMatch,
    model_admin: Any,
    query: QueryDict,
    *,
    path: str,
    title: str,
) -> PageInfo:
    name = match.view_name or ""
    action, app_label, model_name = _admin_labels(match, model_admin)
    arguments, object_id = _arguments(match), ""
    if action in ("change", "delete", "history") or (model_name and not action):
        object_id = unquote(
            next((arguments[key] for key in KEY_NAMES if key in arguments), "")
        )
    return PageInfo(
        path=path,
        title=title,
        view_name=name,
        app_label=app_label,
        model_name=model_name,
        object_id=object_id,
        action=action,
        arguments=arguments,
        filters=_filters(query) if action == "changelist" else {},
        search=query.get("q", "") if action == "changelist" else "",
        page_number=_number(query.get("p", "")) if action == "changelist" else 0,
    )


def _arguments(match: ResolverMatch) -> dict[str, str]:
    """
    Return the arguments of the view from the address, by their names.

    A pattern may name none, as those of django-reversion and django-simple-history:
    then they have the names that the view gives them.
    """
    named = {key: str(value) for key, value in match.kwargs.items()}
    if not match.args:
        return named
    try:
        # The first is the request.
        bound = signature(match.func).bind_partial(None, *match.args)
    except (TypeError, ValueError):
        return named
    given = [*bound.arguments.items()][1:]
    return {key: value for key, value in given if isinstance(value, str)} | named


def _admin_labels(match: ResolverMatch, model_admin: Any) -> tuple[str, str, str]:
    if "admin" not in match.app_names:
        return "", "", ""
    url_name = match.url_name or ""
    if model_admin is None:
        return ADMIN_PAGES.get(url_name, ""), str(match.kwargs.get("app_label", "")), ""
    options = model_admin.opts
    # Exactly: auth_user_password_change is not the form of a user.
    url_action = url_name.removeprefix(f"{options.app_label}_{options.model_name}_")
    action = url_action if url_action in ADMIN_ACTIONS else ""
    return action, options.app_label, options.model_name


def _filters(query: QueryDict) -> dict[str, str]:
    keys = [key for key in query if key not in OWN_PARAMETERS and key[:1] != "_"]
    return {key: ",".join(query.getlist(key)) for key in keys[:MAX_FILTERS]}


def _number(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) < 9
    return int(text) if is_number else 1


def load_views() -> None:
    """
    Import the site's views, which registers their tools.

    A web process does so at its first request; a worker never would.
    """
    get_resolver().url_patterns  # noqa: B018 - cached by Django
