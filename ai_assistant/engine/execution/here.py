"""Which of what is registered a message of a user on a page would have."""

from dataclasses import dataclass
from typing import Any

from ai_assistant.configuration.placement import applies
from ai_assistant.configuration.registered import RegisteredPart, registered_parts
from ai_assistant.context.page import find_page
from ai_assistant.context.provided import providers_of
from ai_assistant.engine.calls.availability import tools_of
from ai_assistant.engine.execution.prompt import first_run
from ai_assistant.engine.lifecycle.scope import RunScope


@dataclass(frozen=True, kw_only=True, slots=True)
class PartsHere:
    """The names of what applies on a page, by kind; and the module of the page."""

    module: str
    names: dict[str, frozenset[str]]


def parts_here(user: Any, page_path: str) -> PartsHere:
    """Return what applies to a first message of a user on a page. Asks the database."""
    scope = first_run(user, page_path)[1]
    page, setup = find_page(page_path), scope.setup
    names: dict[str, set[str]] = {
        "context": {one.name for one in providers_of(page)} if page else set(),
        "tools": {tool.name for tool in tools_of(scope)},
        "modules": {scope.module.id},
        "commands": {*setup.commands},
        "skills": {*setup.skills},
        "instructions": {one.name for one in setup.instructions},
        "agents": {*setup.agents},
    }
    parts = registered_parts()
    names["hooks"] = {one.name for one in parts["hooks"] if _is_asked(one, scope)}
    names["suggestions"] = {
        one.name for one in parts["suggestions"] if _is_suggested(one, scope)
    }
    found = {kind: frozenset(said) for kind, said in names.items()}
    return PartsHere(module=scope.module.id, names=found)


def _is_asked(part: RegisteredPart, scope: RunScope) -> bool:
    return bool(part.part.is_for(scope.module.id, "", scope.run.agent))


def _is_suggested(part: RegisteredPart, scope: RunScope) -> bool:
    if isinstance(part.part, str):
        return part.part in map(str, scope.module.suggestions)
    placement = part.placement
    return placement is not None and applies(placement, scope.context, part.name)
