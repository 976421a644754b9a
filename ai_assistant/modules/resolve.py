"""Which module a page selects."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.builtin import BUILT_IN, DefaultModule
from ai_assistant.registry import registry


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    exact: dict[str, ContextModule] = field(default_factory=dict)
    patterns: list[tuple[int, re.Pattern[str], ContextModule]] = field(
        default_factory=list
    )

    @classmethod
    def of(cls, modules: Iterable[ContextModule]) -> "_Table":
        """Return the table of `modules`, of which the first wins among equals."""
        table = cls()
        for module in modules:
            for match in module.matches:
                if "*" not in match:
                    table.exact.setdefault(match, module)
                    continue
                text = ".*".join(map(re.escape, match.split("*")))
                length = len(match.replace("*", ""))
                table.patterns.append((length, re.compile(text), module))
        table.patterns.sort(key=lambda entry: -entry[0])  # stable
        return table

    def find(self, view_name: str) -> ContextModule | None:
        """Return the most specific module: an exact name, or the longest pattern."""
        if found := self.exact.get(view_name):
            return found
        for _length, pattern, module in self.patterns:
            if pattern.fullmatch(view_name):
                return module
        return None


def module_for(view_name: str) -> ContextModule:
    """
    Return the module of the pages of `view_name`: the most specific match.

    Ours are for the pages that no module of the site matches at all.
    """
    own = _own_table(registry.version).find(view_name)
    return own or _BUILT_IN.find(view_name) or DEFAULT


def module_by_id(module_id: str) -> ContextModule:
    """Return a module by its id; the default one if it is gone."""
    found = registry.modules().get(module_id)
    return found or next((one for one in BUILT_IN if one.id == module_id), DEFAULT)


def ambiguous() -> list[tuple[str, ContextModule, ContextModule]]:
    """Return the patterns that two modules of the site give alike."""
    seen: dict[str, ContextModule] = {}
    found = []
    for module in registry.modules().values():
        for pattern in module.matches:
            if pattern in seen:
                found.append((pattern, seen[pattern], module))
            seen.setdefault(pattern, module)
    return found


def every_module() -> list[ContextModule]:
    """Return the site's modules, then the built-in ones."""
    return [*registry.modules().values(), *BUILT_IN]


def module_ids() -> list[str]:
    """Return the ids of all modules, that of pages without one included."""
    return [*(module.id for module in every_module()), DEFAULT.id]


@lru_cache(maxsize=4)
def _own_table(_version: int) -> _Table:
    return _Table.of(registry.modules().values())


_BUILT_IN = _Table.of(BUILT_IN)
DEFAULT = DefaultModule()
