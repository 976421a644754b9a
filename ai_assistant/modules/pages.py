"""The pages of the site by the names of their views, and which of them a row selects."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from django.http import QueryDict
from django.urls import (
    NoReverseMatch,
    ResolverMatch,
    URLPattern,
    URLResolver,
    get_resolver,
    reverse,
)
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.context.page import SitePage, page_of
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.resolve import current_modules, module_for, module_of_code
from ai_assistant.modules.settings import ModuleSettings
from ai_assistant.modules.site import matches
from ai_assistant.types import PageInfo

OWN_NAMESPACE = "ai_assistant"
# Of the admin: what is no page of its own, or not of a user who has signed in.
NO_PAGES = frozenset(
    {"jsi18n", "autocomplete", "view_on_site", "login", "logout"}
    | {"password_change", "password_change_done"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedPage:
    """A page of the site that has a name; `path` is empty if it takes arguments."""

    info: PageInfo
    label: str
    path: str = ""


@dataclass(kw_only=True, slots=True)
class Selected:
    """
    The pages that the row of a module selects.

    `of_code` are pages that it matches and a module of an app has, `equal` those that
    another row matches as well, both by the id of that one.
    """

    pages: list[ListedPage] = field(default_factory=list)
    of_code: dict[str, list[ListedPage]] = field(default_factory=dict)
    equal: dict[str, list[ListedPage]] = field(default_factory=dict)
    idle: list[str] = field(default_factory=list)  # lines that match no page at all


def selected_by(settings: ModuleSettings, pages: Iterable[ListedPage]) -> Selected:
    """Return the `pages` that a row would select, if it were stored."""
    modules, found = current_modules().with_row(settings), Selected()
    used: set[str] = set()
    for page in pages:
        lines = [line for line in settings.pages if matches(line, page.info)]
        used.update(lines)
        if not lines:
            continue
        if (code := module_of_code(page.info)) is not None:
            found.of_code.setdefault(code.id, []).append(page)
            continue
        ranked = modules.matching(page.info)
        best = [module.id for rank, module in ranked if rank == ranked[0][0]]
        if settings.id not in best:
            continue
        found.pages.append(page)
        for other in best:
            if other != settings.id:
                found.equal.setdefault(other, []).append(page)
    found.idle = [line for line in settings.pages if line not in used]
    return found


def pages_of(module: ContextModule) -> list[ListedPage]:
    """Return the pages that a module has, for those for whom it is."""
    return [page for page in site_pages() if module_for(page.info).id == module.id]


def site_pages() -> list[ListedPage]:
    """Return the pages of the site that have a name, but the assistant's own."""
    pages: dict[str, ListedPage] = {}
    for match in _matches_below(get_resolver(), [], []):
        if _is_page(match):
            pages.setdefault(match.view_name, _listed(page_of(match, QueryDict())))
    return [*pages.values()]


def _is_page(match: ResolverMatch) -> bool:
    if not match.url_name or OWN_NAMESPACE in match.namespaces:
        return False
    return not ("admin" in match.app_names and match.url_name in NO_PAGES)


def _matches_below(
    resolver: URLResolver, app_names: list[str], namespaces: list[str]
) -> Iterator[ResolverMatch]:
    entry: URLPattern | URLResolver
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            yield from _matches_below(
                entry,
                [*app_names, *([entry.app_name] if entry.app_name else [])],
                [*namespaces, *([entry.namespace] if entry.namespace else [])],
            )
        else:
            yield ResolverMatch(
                entry.callback,
                (),
                {},
                entry.name,
                app_names,  # type: ignore[arg-type] # of django-stubs
                namespaces,  # type: ignore[arg-type] # as above
            )


def _listed(page: SitePage) -> ListedPage:
    name = page.info.view_name
    try:
        path = reverse(name)
    except NoReverseMatch:
        path = ""
    return ListedPage(info=page.info, label=_label(page), path=path)


def _label(page: SitePage) -> str:
    action, admin = page.info.action, page.model_admin
    if admin is None or not action:
        return page.info.view_name
    names = {
        "changelist": _("%(models)s: list"),
        "add": _("%(models)s: add"),
        "change": _("%(models)s: change"),
        "delete": _("%(models)s: delete"),
        "history": _("%(models)s: history"),
    }
    models = capfirst(str(admin.opts.verbose_name_plural))
    return names.get(action, "%(models)s") % {"models": models}
