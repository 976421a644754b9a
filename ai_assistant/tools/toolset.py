"""A group of tools that is changed and registered as a whole."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ai_assistant.exceptions import AlreadyRegistered, NotRegistered
from ai_assistant.registry import registry
from ai_assistant.types import ToolDefinition


class Toolset:
    """
    Tools under one name. Each method returns another toolset; this one stays.

    `Toolset("crm", tools).filtered(is_read).prefixed().register()`
    """

    def __init__(self, name: str, tools: Iterable[ToolDefinition]) -> None:
        self.name, self.tools = name, tuple(tools)
        for tool in self.names:
            if self.names.count(tool) > 1:
                raise AlreadyRegistered(
                    f"Toolset {self.name!r} has two tools {tool!r}. Rename one."
                )

    def __iter__(self) -> Iterator[ToolDefinition]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    @property
    def names(self) -> list[str]:
        """The names of its tools: what a ContextModule takes."""
        return [tool.name for tool in self.tools]

    def prefixed(self, prefix: str = "") -> "Toolset":
        """Put `prefix`, or the toolset's name, and an underscore before each name."""
        first = prefix or self.name
        return self._each(lambda tool: replace(tool, name=f"{first}_{tool.name}"))

    def renamed(self, names: Mapping[str, str]) -> "Toolset":
        """Give tools other names, by their old ones."""
        self._check_names(names)
        return self._each(
            lambda tool: replace(tool, name=names.get(tool.name, tool.name))
        )

    def filtered(self, keep: Callable[[ToolDefinition], bool]) -> "Toolset":
        """Keep the tools for which `keep` returns True."""
        return Toolset(self.name, filter(keep, self.tools))

    def changed(self, **fields: Any) -> "Toolset":
        """Give all tools these fields: `policy="ask"`, `permission=...`, `rate=...`."""
        return self._each(lambda tool: tool.changed(**fields))

    def summarized(
        self, summaries: Mapping[str, Callable[[dict[str, Any], Any], Any]]
    ) -> "Toolset":
        """Let the cards of these tools, by name, say what `summary` returns."""
        self._check_names(summaries)
        return self._each(
            lambda tool: (
                tool.changed(summary=summaries[tool.name])
                if tool.name in summaries
                else tool
            )
        )

    def register(self, *, replace: bool = False) -> list[str]:
        """Register all tools; `replace` those of the same name."""
        for tool in self.tools:
            registry.add_tool(tool, replace=replace)
        return self.names

    def _check_names(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.names:
                raise NotRegistered(
                    f"Toolset {self.name!r} has no tool {name!r}. It has: "
                    f"{', '.join(self.names) or 'none'}."
                )

    def _each(self, change: Callable[[ToolDefinition], ToolDefinition]) -> "Toolset":
        return Toolset(self.name, map(change, self.tools))
