"""Which module a page selects, and whether a user may use its page-only parts."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Model
from django.utils.translation import gettext_lazy as _

from ai_assistant.context.opened import may_open_page
from ai_assistant.context.page import SitePage, find_page
from ai_assistant.context.viewparts import registered_parts
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.site import SiteModules, site_modules, view_names
from ai_assistant.registry import registry
from ai_assistant.safety.site_code import value_or
from ai_assistant.types import PageInfo, RunContext

NO_RUN = UUID(int=0)  # of a page that a person has open


class DefaultModule(ContextModule):
    """Every page without a module: the shared tools and those of its view."""

    id = "default"


class AdminIndexModule(ContextModule):
    """The start page of the admin and the lists of an app's models."""

    id = "admin-index"
    label = _("Administration")
    matches: ClassVar = ["admin:index", "admin:app_list"]
    prompt = (
        "The user is at the start of the administration and may want to find something."
    )


class AdminListModule(ContextModule):
    """The list of a model."""

    id = "admin-list"
    label = _("List")
    matches: ClassVar = ["admin:*_changelist"]
    prompt = (
        "The user looks at a list. Its filters and its search have items of their own."
    )


class AdminFormModule(ContextModule):
    """The form of a new or of an existing object."""

    id = "admin-form"
    label = _("Form")
    matches: ClassVar = ["admin:*_add", "admin:*_change"]
    prompt = (
        "The user has a form open. A change that you make is not seen in it until "
        "the page is loaded again; say so after a change."
    )


class AdminHistoryModule(ContextModule):
    """The history of an object."""

    id = "admin-history"
    label = _("History")
    matches: ClassVar = ["admin:*_history"]
    prompt = "The user looks at what was changed on the object, by whom and when."


BUILT_IN: tuple[ContextModule, ...] = (
    AdminIndexModule(),
    AdminListModule(),
    AdminFormModule(),
    AdminHistoryModule(),
)


def is_page_open(page: SitePage | None, module: ContextModule, user: Any) -> bool:
    """
    Return whether `user` gets the page's own tools of `module` and the view.

    The database is asked only if there are any.
    """
    if page is None or not _has_page_parts(page, module):
        return True
    return may_open_page(page, user)


def _has_page_parts(page: SitePage, module: ContextModule) -> bool:
    parts = registered_parts(page.view, page.model_admin)
    own = module.configured.tools or is_of_site(module)
    return bool(own or parts.tools or parts.suggestions)


def page_context(
    user: Any, path: str, title: str = "", conversation: str = ""
) -> RunContext:
    """
    Return what code of the site is given that looks at a page before a run.

    `conversation` is the id of the one that is open there, if one is.
    """
    page = find_page(path, title)
    info = page.info if page else PageInfo(path=path, title=title)
    module = module_for(info, user)
    is_open = is_page_open(page, module, user)
    return RunContext(
        user=user,
        run_id=NO_RUN,
        conversation_id=_uuid(conversation),
        page=info,
        module=module.id if is_open else DEFAULT.id,
    )


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return NO_RUN


def module_for(page: PageInfo | str, user: Any = None) -> ContextModule:
    """
    Return the module of a page, or of all of a view's name: the most specific match.

    "admin:" in a pattern stands for every AdminSite, as it does for `reverse`, but the
    name of the site goes first. Modules made in the admin are for pages that no module
    of an app matches, so that what code forbids there stays; built-in ones are for the
    rest, and for Django's pages alone, whatever a package calls its own.
    """
    if isinstance(page, str):
        page = PageInfo(view_name=page)
    modules = current_modules()
    if (found := module_of_code(page)) is not None:
        return modules.as_configured(found, user)
    if (made := modules.made_for(page, user)) is not None:
        return made
    if page.model_name and not page.action:
        return DEFAULT
    built_in = _most_specific(BUILT_IN, [*view_names(page)][-1])
    return modules.as_configured(built_in, user) if built_in else DEFAULT


def module_of_code(page: PageInfo) -> ContextModule | None:
    """Return the module that an app registers for a page, if one does."""
    for name in dict.fromkeys(view_names(page)):
        if (found := _most_specific(registry.modules().values(), name)) is not None:
            return found
    return None


def _most_specific(
    modules: Iterable[ContextModule], view_name: str
) -> ContextModule | None:
    """Return the module with the exact name or the longest pattern; of equals the first."""
    by_rank: dict[tuple[bool, int], ContextModule] = {}
    for module in modules:
        for match in module.matches:
            if fnmatchcase(view_name, match):
                rank = "*" not in match, len(match.replace("*", ""))
                by_rank.setdefault(rank, module)
    return by_rank[max(by_rank)] if by_rank else None


def module_by_id(
    module_id: str, user: Any = None, run_id: UUID | None = None
) -> ContextModule:
    """
    Return a module by its id; the default one if it is gone, or is not for `user`.

    Without a user it is as those have it for whom it is; with a run as that began.
    """
    return current_modules(run_id).by_id(module_id, user) or DEFAULT


def module_of(context: RunContext) -> ContextModule:
    """Return the module of a page or a run, as its user has it."""
    run_id = context.run_id if context.run_id.int else None
    return module_by_id(context.module, context.user, run_id)


def is_of_site(module: ContextModule) -> bool:
    """Return whether it is a module of an app or of a row, and not built in."""
    return module.id in registry.modules() or module.id in current_modules().made


def other_root(page: SitePage, module: ContextModule, user: Any) -> Model | None:
    """Return the root object of a page, if its module says which; None if its code fails."""
    if type(module).get_root is ContextModule.get_root:
        return None
    context = RunContext(
        user=user,
        run_id=NO_RUN,
        conversation_id=NO_RUN,
        page=page.info,
        module=module.id,
    )
    failed = "the root object of module %r is not known"
    return value_or(None, lambda: module.get_root(context), failed, module.id)


def ambiguous_patterns() -> list[tuple[str, ContextModule, ContextModule]]:
    """Return the patterns that two modules of the site have in common."""
    module_by_pattern: dict[str, ContextModule] = {}
    ambiguous = []
    for module in registry.modules().values():
        for pattern in module.matches:
            if pattern in module_by_pattern:
                ambiguous.append((pattern, module_by_pattern[pattern], module))
            module_by_pattern.setdefault(pattern, module)
    return ambiguous


def registered_modules() -> list[ContextModule]:
    """Return the modules of the site's code, then the built-in ones."""
    return [*registry.modules().values(), *BUILT_IN]


def every_module() -> list[ContextModule]:
    """Return all modules as rows have them, those made of rows last."""
    return current_modules().all()


def module_ids() -> list[str]:
    """Return the ids of all modules, that of pages without one included."""
    return [*(module.id for module in every_module()), DEFAULT.id]


def current_modules(run_id: UUID | None = None) -> SiteModules:
    """Return the modules of the site as rows have them now, or had them for a run."""
    known = registry.modules()
    for module in BUILT_IN:
        known.setdefault(module.id, module)
    return site_modules(known, run_id)


DEFAULT = DefaultModule()
