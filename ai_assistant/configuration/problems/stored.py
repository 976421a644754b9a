"""What has become wrong with rows that were right when they were saved."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.configuration.modules import is_sound
from ai_assistant.configuration.problems.modules import (
    agent_error,
    at_fields,
    gone_models,
    gone_tools,
    is_of_code,
    price_error,
    profile_error,
    selected_errors,
    selected_pages,
)
from ai_assistant.configuration.problems.operations import gone_operations
from ai_assistant.configuration.rows import rows_of
from ai_assistant.models.configuration import (
    Agent,
    ConfigurationRow,
    Instruction,
    Profile,
    PromptCommand,
    Skill,
    Suggestion,
)
from ai_assistant.models.module import (
    Module,
    features_error,
    operation_errors,
    page_errors,
)
from ai_assistant.models.policy import PolicyRule, pattern_error
from ai_assistant.modules.pages import ListedPage, site_pages
from ai_assistant.modules.resolve import module_ids
from ai_assistant.registry import registry
from ai_assistant.safety.policy.policy import meant_by

TAUGHT: tuple[type[ConfigurationRow], ...] = (
    Instruction,
    Skill,
    PromptCommand,
    Suggestion,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredProblem:
    """A sentence on one row."""

    row: Any
    text: str


def field_problems(row: Any) -> Iterator[tuple[str, str]]:
    """Yield what is wrong by now with a stored row: the field and a sentence for each."""
    if isinstance(row, PolicyRule):
        yield from _of_rule(row, module_ids() if row.module else ())
    elif isinstance(row, Module):
        yield from _of_module(row) if row.is_active else ()
    elif isinstance(row, Agent):
        yield from _of_agent(row)
    elif isinstance(row, Profile):
        yield from _of_profile(row)
    elif isinstance(row, TAUGHT):
        yield from _of_taught(row, module_ids() if row.module else ())


def module_problems() -> list[StoredProblem]:
    """Return what is wrong with the modules that are on. Seldom asks the database."""
    rows = [row for row in rows_of(Module) if row.is_active]
    pages = site_pages() if rows else []
    return [
        StoredProblem(row=row, text=text)
        for row in rows
        for _field, text in _of_module(row, pages)
    ]


def rule_problems() -> Iterator[StoredProblem]:
    """Yield the policy rules that match no tool or no module."""
    modules = module_ids()
    for row in PolicyRule.objects.order_by("pk"):
        yield from _said_of(row, _of_rule(row, modules))


def broken_pattern(rule: PolicyRule, error: str) -> str:
    """Return what is wrong with the pattern of a rule, and what it means until then."""
    said = _("Pattern “%(tools)s” %(error)s. Write a simpler one.")
    values = {"tools": rule.tools, "error": error}
    for_all = _("Until then the rule is for all tools.")
    return said % values + ("" if rule.decision == "allow" else f" {for_all}")


def without_tools(rule: PolicyRule) -> str:
    """Return what it means that no tool fits the pattern of a rule: one may be added."""
    said = _("There is no tool “%(tools)s” yet: the rule has no effect.")
    return said % {"tools": rule.tools}


def agent_problems() -> Iterator[StoredProblem]:
    """Yield the agents that are on and of which something is gone."""
    for row in rows_of(Agent):
        if row.is_active:
            yield from _said_of(row, _of_agent(row))


def fallback_problems() -> Iterator[StoredProblem]:
    """Yield the model profiles that are on and whose fallback is gone."""
    for row in Profile.objects.filter(is_active=True).exclude(fallback=""):
        yield from _said_of(row, _of_profile(row))


def rows_of_site(model: type[ConfigurationRow]) -> list[Any]:
    """Return the rows of one of `TAUGHT`, without what persons keep for themselves."""
    return [row for row in rows_of(model) if getattr(row, "owner_id", None) is None]


def taught_problems(model: type[ConfigurationRow]) -> Iterator[StoredProblem]:
    """Yield the rows of one of `TAUGHT` that are on and name what is gone."""
    modules = module_ids()
    for row in rows_of_site(model):
        if row.is_active:
            yield from _said_of(row, _of_taught(row, modules))


def _said_of(row: Any, problems: Iterable[tuple[str, str]]) -> Iterator[StoredProblem]:
    return (StoredProblem(row=row, text=said) for _field, said in problems)


def _of_module(
    row: Module, pages: list[ListedPage] | None = None
) -> Iterator[tuple[str, str]]:
    if not is_sound(row):
        yield from at_fields(
            {
                "pages": page_errors(row.pages),
                "api_operations": operation_errors(row.api_operations),
                "features": filter(None, [features_error(row.features)]),
            }
        )
        return
    if not is_of_code(row.name):
        yield from at_fields({"pages": selected_errors(selected_pages(row, pages))})
    yield from at_fields(
        {
            "tools": gone_tools(row.tools.split()),
            "data_models": gone_models(row.data_models.split()),
            "api_operations": gone_operations(row.api_operations.split()),
        }
    )
    if row.agent and (error := agent_error(row.agent, row.name)):
        yield "agent", error
    if row.profile and (error := profile_error(row.profile)):
        yield "profile", error
    if row.usd is not None and (error := price_error(row.profile or conf.DEFAULT)):
        yield "usd", error


def _of_rule(row: PolicyRule, modules: Collection[str]) -> Iterator[tuple[str, str]]:
    if row.module and row.module not in modules:
        yield "module", _no_module(row.module)
    elif error := pattern_error(row.tools):
        yield "tools", broken_pattern(row, error)
    elif not meant_by(row.tools, registry.tools()):
        yield "tools", without_tools(row)


def _of_agent(row: Agent) -> Iterator[tuple[str, str]]:
    if row.profile and (said := profile_error(row.profile)):
        yield "profile", said
    yield from (("tools", said) for said in _gone_tools(row.tools))
    if row.loop and row.loop not in (loops := registry.parts("loop")):
        sentence = _("There is no “%(name)s”. There are: %(known)s.")
        known = ", ".join(sorted(loops))
        yield "loop", sentence % {"name": row.loop, "known": known}


def _of_profile(row: Profile) -> Iterator[tuple[str, str]]:
    if row.fallback and (said := profile_error(row.fallback)):
        yield "fallback", said


def _of_taught(
    row: ConfigurationRow, modules: Collection[str]
) -> Iterator[tuple[str, str]]:
    if row.module and row.module not in modules:
        yield "module", _no_module(row.module)
    names = getattr(row, "allowed_tools", "")
    yield from (("allowed_tools", said) for said in _gone_tools(names))


def _gone_tools(names: str) -> Iterator[str]:
    return gone_tools(name for name in names.split() if "*" not in name)


def _no_module(name: str) -> str:
    return _("There is no module “%(module)s” any more.") % {"module": name}
