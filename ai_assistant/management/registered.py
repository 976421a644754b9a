"""The names of what the apps of a site have registered, and what rows add to it."""

from collections.abc import Callable, Iterable
from typing import Any

from django.db import DatabaseError

from ai_assistant.configuration.setup import TAUGHT
from ai_assistant.registry import registry

KINDS = (
    "context",
    "tools",
    "commands",
    "skills",
    "hooks",
    "modules",
    "suggestions",
    "instructions",
    "agents",
)


def _with_rows(kind: str, parts: Callable[[], list[Any]]) -> set[str]:
    """Return the names of a kind, without those of rows if their table is not there."""
    try:
        found = parts()
    except DatabaseError:  # the database is looked at below
        return set(registry.parts(kind))
    return {part.name for part in found if getattr(part, "owner_id", None) is None}


def registered() -> dict[str, list[str]]:
    """Return the names of what the site's apps have registered, by kind."""
    modules = registry.modules()
    names: dict[str, Iterable[str]] = {
        "tools": registry.tools(),
        "context": registry.contexts(),
        "modules": modules,
        "hooks": {hook.name for hook in registry.hooks()},
        **{kind: _with_rows(kind[:-1], parts) for kind, parts in TAUGHT.items()},
        "suggestions": {
            *(str(t) for module in modules.values() for t in module.suggestions),
            *registry.parts("suggestion"),
        },
    }
    return {kind: sorted(names.get(kind, ())) for kind in KINDS}
