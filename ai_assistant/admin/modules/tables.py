"""What the pages of modules show: which there are, their pages, and what is decided."""

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from ai_assistant.configuration.modules import is_sound
from ai_assistant.configuration.problems.modules import code_of
from ai_assistant.configuration.problems.operations import (
    gone_operations,
    operations_of_site,
)
from ai_assistant.configuration.rows import rows_of
from ai_assistant.models.configuration import Instruction, Skill, Suggestion
from ai_assistant.models.module import Module, operation_errors
from ai_assistant.models.policy import PolicyRule
from ai_assistant.modules.base import ContextModule, tool_name
from ai_assistant.modules.pages import ListedPage, Selected, site_pages
from ai_assistant.modules.resolve import BUILT_IN, module_for, registered_modules
from ai_assistant.registry import registry
from ai_assistant.safety.policy.policy import decision_label, verdict_by_group
from ai_assistant.tools.api.catalogue import OF_API, chooses
from ai_assistant.types import ToolDefinition

Entry = dict[str, Any]
SHOWN = 14  # pages, of more the rest is counted


def module_entries() -> list[Entry]:
    """Return all modules: of apps, built in, and made here, with their rows."""
    rows = {row.name: row for row in rows_of(Module)}
    by_module: dict[str, list[ListedPage]] = {}
    for page in site_pages():
        by_module.setdefault(module_for(page.info).id, []).append(page)
    registered = registered_modules()
    own = {module.id for module in registered}
    entries = [
        _module_entry(module, rows.get(module.id), by_module.get(module.id, []))
        for module in registered
    ]
    made = [row for name, row in rows.items() if name not in own]
    return [*entries, *(_made_entry(row, by_module.get(row.name, [])) for row in made)]


def _module_entry(
    module: ContextModule, row: Module | None, pages: list[ListedPage]
) -> Entry:
    is_built_in = any(module is one for one in BUILT_IN)
    return {
        "id": module.id,
        "label": str((row.label if row else "") or module.label or module.id),
        "source": _("built in") if is_built_in else _app_of(module),
        "row": row,
        "is_on": row is None or row.is_active,
        "pages": pages_entry(pages),
        "tools": len({*map(tool_name, module.tools)}),
    }


def _app_of(module: ContextModule) -> str:
    return type(module).__module__.partition(".assistant")[0]


def _made_entry(row: Module, pages: list[ListedPage]) -> Entry:
    return {
        "id": row.name,
        "label": row.label or row.name,
        "source": _("made here"),
        "row": row,
        "is_on": row.is_active,
        "is_made": True,
        "is_broken": not is_sound(row),
        "pages": pages_entry(pages),
        "tools": len(row.tools.split()),
    }


# --- its pages ---


def pages_entry(pages: Iterable[ListedPage]) -> Entry:
    """Return pages by their names, the first of many."""
    listed = list(pages)
    return {
        "count": len(listed),
        "shown": listed[:SHOWN],
        "more": max(len(listed) - SHOWN, 0),
    }


def selected_entry(selected: Selected) -> Entry:
    """Return what `module_pages.html` draws."""
    return {
        "pages": pages_entry(selected.pages),
        "of_code": {
            name: pages_entry(found) for name, found in selected.of_code.items()
        },
        "equal": {name: pages_entry(found) for name, found in selected.equal.items()},
        "idle": selected.idle,
    }


# --- its API operations ---


def operations_entry(row: Module) -> Entry:
    """Return what `module_operations.html` draws."""
    lines, known = row.api_operations.split(), operations_of_site()
    code = code_of(row.name) or ContextModule()
    choices = [one for one in (code.api_operations, lines) if one]
    own = [
        one
        for one in known.operations.values()
        if all(chooses(choice, one) for choice in choices)
    ]
    return {
        "is_narrowed": bool(choices),
        "count": len(own),
        "shown": own[:SHOWN],
        "more": max(len(own) - SHOWN, 0),
        "problems": [*operation_errors(row.api_operations), *gone_operations(lines)],
    }


# --- its tools, and what is decided of them ---


def tool_entries(row: Module) -> list[Entry]:
    """Return the tools on pages of a module, with what is decided there and why."""
    module, names = row.name, {*row.tools.split()}
    if names and row.api_operations:
        names |= OF_API
    own = {
        *(
            tool_name(tool)
            for one in registered_modules()
            if one.id == module
            for tool in one.tools
        )
    }
    return [
        _tool_entry(tool, module, is_own=name in own)
        for name, tool in sorted(registry.tools().items())
        if not tool.display.renders_only and (not names or name in names)
    ]


def _tool_entry(tool: ToolDefinition, module: str, *, is_own: bool) -> Entry:
    verdicts = verdict_by_group(tool, module)
    verdict = verdicts.pop("")
    return {
        "name": tool.name,
        "label": capfirst(str(tool.display.label)),
        "effect": tool.effect,
        "is_own": is_own,
        "verdict": verdict,
        "decided": decision_label(verdict),
        "groups": [(name, one, decision_label(one)) for name, one in verdicts.items()],
        "query": urlencode({"tools": tool.name, "module": module}),
    }


# --- what belongs to it ---


def related_entries(module: str) -> Iterator[Entry]:
    """Yield the kinds of rows that may be for a module, with how many of it there are."""
    for model in (PolicyRule, Instruction, Suggestion, Skill):
        yield {
            "label": capfirst(str(model._meta.verbose_name_plural)),
            "model": model,
            "count": model._default_manager.filter(module=module).count(),
            "query": urlencode({"module": module}),
        }
