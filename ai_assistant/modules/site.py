"""The modules of the site: those of its apps as its rows have them, and those of rows."""

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any
from uuid import UUID

from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.configured import configured, is_for, made_of, switched_off
from ai_assistant.modules.settings import ModuleSettings
from ai_assistant.types import PageInfo

Settings = tuple[ModuleSettings, ...]
# Of an exact name, its letters, the priority of its row, for a group.
Rank = tuple[bool, int, int, bool]
PageKey = tuple[str, str, str, str]


class SiteModules:
    """The modules as code registers them and rows have them, at one version of both."""

    def __init__(
        self, registered: Mapping[str, ContextModule], settings: Settings
    ) -> None:
        self.registered = registered
        self.settings = settings
        own = {one.id: one for one in settings}
        self._off = {
            name: switched_off(module)
            for name, module in registered.items()
            if name in own
        }
        self._on = {
            name: configured(module, own[name]) if own[name].is_active else off
            for name, off in self._off.items()
            for module in (registered[name],)
        }
        self._own = own
        self.made = {
            one.id: made_of(one)
            for one in settings
            if one.id not in registered and one.is_active
        }
        self._matching: dict[PageKey, list[tuple[Rank, ContextModule]]] = {}

    def as_configured(self, module: ContextModule, user: Any = None) -> ContextModule:
        """Return a registered module as its row has it for a user."""
        settings = self._own.get(module.id)
        if settings is None:
            return module
        return (self._on if is_for(settings, user) else self._off)[module.id]

    def made_for(self, page: PageInfo, user: Any = None) -> ContextModule | None:
        """Return the module made of a row that a page selects for a user, if any."""
        found = (module for _rank, module in self.matching(page))
        return next((one for one in found if is_for(one.configured, user)), None)

    def matching(self, page: PageInfo) -> list[tuple[Rank, ContextModule]]:
        """Return the made modules that match a page, the most specific first."""
        key = page.view_name, page.app_label, page.model_name, page.action
        found = self._matching.get(key)
        if found is None:
            ranked = [
                (rank, module)
                for module in self.made.values()
                if (rank := _rank(module.configured, page)) is not None
            ]
            found = sorted(ranked, key=lambda one: one[0], reverse=True)  # stable
            self._matching[key] = found
        return found

    def with_row(self, settings: ModuleSettings) -> "SiteModules":
        """Return the modules as they would be with a row in place of that of its id."""
        if self._own.get(settings.id) == settings:
            return self
        others = [one for one in self.settings if one.id != settings.id]
        return SiteModules(self.registered, (*others, settings))

    def by_id(self, module_id: str, user: Any = None) -> ContextModule | None:
        """Return a module by its id as a user has it; None if there is none for them."""
        module = self.registered.get(module_id)
        if module is not None:
            return self.as_configured(module, user)
        made = self.made.get(module_id)
        return made if made is not None and is_for(made.configured, user) else None

    def all(self) -> list[ContextModule]:
        """Return all modules, as those for whom they are have them."""
        registered = map(self.as_configured, self.registered.values())
        return [*registered, *self.made.values()]


def view_names(page: PageInfo) -> Iterator[str]:
    """Yield the names of the view, as on the page's own site and on any."""
    yield page.view_name
    if page.action or page.model_name:
        yield f"admin:{page.view_name.rpartition(':')[2]}"


def matches(line: str, page: PageInfo) -> bool:
    """Return whether a line of `pages` is for a page: a model, or names of views."""
    if is_model(line):
        return line.lower() == f"{page.app_label}.{page.model_name}".lower()
    return any(fnmatchcase(name, line) for name in view_names(page))


def is_model(line: str) -> bool:
    """Return whether a line of `pages` names a model."""
    return line.count(".") == 1 and ":" not in line


def _rank(settings: ModuleSettings, page: PageInfo) -> Rank | None:
    ranks = [
        (
            not is_model(line) and "*" not in line,
            len(line.replace("*", "")) + (len("admin:_") if is_model(line) else 0),
            settings.priority,
            bool(settings.group),
        )
        for line in settings.pages
        if matches(line, page)
    ]
    return max(ranks, default=None)


# --- where the rows come from ---


def _no_rows(_run_id: UUID | None) -> Settings:
    return ()


_read: Callable[[UUID | None], Settings] = _no_rows
_now: SiteModules = SiteModules({}, ())


def read_rows_by(read: Callable[[UUID | None], Settings]) -> None:
    """
    Let `read` return what the rows say: now, or as of the beginning of a run.

    Equal answers are the same object: what is made of them is kept by it.
    """
    global _read  # noqa: PLW0603 - rows are of a room above this one
    _read = read


def site_modules(
    registered: Mapping[str, ContextModule], run_id: UUID | None = None
) -> SiteModules:
    """Return the modules of the site, now or as a run has them. Seldom asks the database."""
    global _now  # noqa: PLW0603 - the cache of the process
    settings = _read(run_id)
    known = _now
    if known.settings is settings and known.registered == registered:
        return known
    made = SiteModules(dict(registered), settings)
    if run_id is None:
        _now = made
    return made
