"""The registry of the site's apps: one flat dict, by kind and name."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from ai_assistant.exceptions import AlreadyRegistered, NotRegistered
from ai_assistant.types import ContextProvider, ToolDefinition
from ai_assistant.types.hook import Hook

Key = tuple[str, str]  # kind and name


class _Parts(dict[Key, Any]):
    """The parts by kind and name; those of a kind, which all ask for, are gathered once."""

    def __init__(self, parts: Mapping[Key, Any] = MappingProxyType({})) -> None:
        super().__init__(parts)
        self._gathered: dict[str, dict[str, Any]] = {}

    def of_kind(self, kind: str) -> dict[str, Any]:
        """Return the parts of a kind by name, which are not to be changed."""
        gathered = self._gathered  # what is begun before a change stays in the old one
        found = gathered.get(kind)
        if found is None:
            found = {name: part for (own, name), part in self.items() if own == kind}
            gathered[kind] = found
        return found

    def forget(self) -> None:
        """Gather them again, after a change."""
        self._gathered = {}

    def __copy__(self) -> "_Parts":
        return _Parts(self)


def _forgetting(name: str) -> Callable[..., Any]:
    method = getattr(dict, name)

    def changing(self: _Parts, *args: Any, **options: Any) -> Any:
        try:
            return method(self, *args, **options)
        finally:
            self.forget()

    return changing


for _name in (
    *("__setitem__", "__delitem__", "__ior__", "pop", "popitem", "clear"),
    *("update", "setdefault"),
):
    setattr(_Parts, _name, _forgetting(_name))


class Registry:
    """
    Holds every registered part.

    `_registry` keeps its name and stays one flat dict: Django's
    `autodiscover_modules` copies and restores it when an app's module fails.
    """

    def __init__(self) -> None:
        self._parts = _Parts()
        self.clashes: list[tuple[ToolDefinition, ToolDefinition]] = []  # of one name
        self.replaced: dict[str, ToolDefinition] = {}  # what `replace` has put away

    @property
    def _registry(self) -> dict[Key, Any]:
        return self._parts

    @_registry.setter
    def _registry(self, parts: dict[Key, Any]) -> None:
        self._parts = _Parts(parts)

    def _add(self, kind: str, name: str, part: Any, *, replace: bool = False) -> None:
        found = self._registry.get((kind, name))
        if found is not None and not replace:
            raise AlreadyRegistered(
                f"{kind.capitalize()} {name!r} of {_origin(part)!r} is already "
                f"registered by {_origin(found)!r}. Rename one or unregister the "
                "first."
            )
        self._registry[kind, name] = part

    def _remove(self, kind: str, name: str) -> None:
        if self._registry.pop((kind, name), None) is None:
            known = ", ".join(sorted(self._named(kind))) or "none"
            raise NotRegistered(
                f"{kind.capitalize()} {name!r} is not registered. "
                f"Registered are: {known}."
            )

    def _named(self, kind: str) -> dict[str, Any]:
        return dict(self._parts.of_kind(kind))

    # --- tools ---

    def add_tool(self, tool: ToolDefinition, *, replace: bool = False) -> None:
        """Add a tool. Raise AlreadyRegistered, naming both places, if it is there."""
        before = self.tool(tool.name)
        self._add("tool", tool.name, tool, replace=replace)
        if before is not None:
            self.replaced.setdefault(tool.name, before)

    def offer_tool(self, tool: ToolDefinition, *, replace: bool = False) -> None:
        """
        Add a tool from an `assistant.py`; one of a name that is taken is a clash.

        The first stays, and the system check names both: a site with such a fault
        still answers `manage.py check`.
        """
        before = self.tool(tool.name)
        if before is None or replace:
            self.add_tool(tool, replace=replace)
        else:
            self.clashes.append((before, tool))

    def remove_tool(self, name: str) -> None:
        """Remove a tool. Raise NotRegistered if there is none of that name."""
        self._remove("tool", name)

    def tools(self) -> dict[str, ToolDefinition]:
        """Return all tools by name, in the order of their registration."""
        return self._named("tool")

    def tool(self, name: str) -> ToolDefinition | None:
        """Return the tool named `name`, or None."""
        found: ToolDefinition | None = self._parts.get(("tool", name))
        return found

    # --- what describes pages ---

    def add_context(self, provider: ContextProvider) -> None:
        """Add a context provider. Raise AlreadyRegistered if its name is there."""
        self._add("context", provider.name, provider)

    def contexts(self) -> dict[str, ContextProvider]:
        """Return all context providers by name, in the order of registration."""
        return self._named("context")

    # --- modules ---

    def add_module(self, module: Any) -> None:
        """Register a ContextModule. Raise AlreadyRegistered if its id is taken."""
        self._add("module", module.id, module)

    def modules(self) -> dict[str, Any]:
        """Return all ContextModules by id, in the order of registration."""
        return self._named("module")

    # --- what a site teaches ---

    def add(self, kind: str, part: Any) -> None:
        """Add a part by its name. Raise AlreadyRegistered if its name is taken."""
        self._add(kind, part.name, part)

    def parts(self, kind: str) -> dict[str, Any]:
        """Return the parts of a kind by name, in the order of registration."""
        return self._named(kind)

    # --- hooks ---

    def add_hook(self, hook: Hook) -> None:
        """Add a hook. Raise AlreadyRegistered if its name is taken, at any point."""
        for other in self.hooks():
            if other.name == hook.name:
                raise AlreadyRegistered(
                    f"Hook {hook.name!r} of {hook.origin!r} is already registered by "
                    f"{other.origin!r}. Rename one or unregister the first."
                )
        # All of a point under one key: it costs nothing to see that there is none.
        found = (*self.hooks_at(hook.point), hook)
        in_order = sorted(found, key=lambda one: one.order)  # stable
        self._registry["hooks", hook.point] = tuple(in_order)

    def hooks_at(self, point: str) -> tuple[Hook, ...]:
        """Return the hooks of a point, in their order."""
        found: tuple[Hook, ...] = self._parts.get(("hooks", point), ())
        return found

    def hooks(self) -> list[Hook]:
        """Return all hooks, by their points."""
        return [hook for found in self._named("hooks").values() for hook in found]

    # --- for tests ---

    @contextmanager
    def temporarily(self, *tools: ToolDefinition) -> Iterator[None]:
        """Register `tools` over those of the same name, for a test."""
        with self.restored():
            for tool in tools:
                self.add_tool(tool, replace=True)
            yield

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Undo at the end what is registered and removed meanwhile."""
        before = dict(self._registry)
        clashes, replaced = list(self.clashes), dict(self.replaced)
        try:
            yield
        finally:
            self._registry = before
            self.clashes, self.replaced = clashes, replaced


def _origin(part: Any) -> str:
    return str(getattr(part, "origin", "") or type(part).__module__)


registry = Registry()
