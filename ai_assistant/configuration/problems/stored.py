"""What has become wrong with rows that were right when they were saved."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.configuration.problems.modules import gone_tools, profile_error
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
from ai_assistant.models.policy import PolicyRule, pattern_error
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


def rule_problems() -> Iterator[StoredProblem]:
    """Yield the policy rules that match no tool or no module."""
    modules, tools = {"", *module_ids()}, registry.tools()
    for row in PolicyRule.objects.order_by("pk"):
        if row.module not in modules:
            yield StoredProblem(row=row, text=_no_module(row.module))
        elif error := pattern_error(row.tools):
            yield StoredProblem(row=row, text=broken_pattern(row, error))
        elif not meant_by(row.tools, tools):
            said = _("There is no tool “%(tools)s” yet: the rule has no effect.")
            yield StoredProblem(row=row, text=said % {"tools": row.tools})


def broken_pattern(rule: PolicyRule, error: str) -> str:
    """Return what is wrong with the pattern of a rule, and what it means until then."""
    said = _("Pattern “%(tools)s” %(error)s. Write a simpler one.")
    values = {"tools": rule.tools, "error": error}
    for_all = _("Until then the rule is for all tools.")
    return said % values + ("" if rule.decision == "allow" else f" {for_all}")


def agent_problems() -> Iterator[StoredProblem]:
    """Yield the agents that are on and of which something is gone."""
    for row in rows_of(Agent):
        if row.is_active:
            yield from (StoredProblem(row=row, text=said) for said in _gone_of(row))


def fallback_problems() -> Iterator[StoredProblem]:
    """Yield the model profiles that are on and whose fallback is gone."""
    for row in Profile.objects.filter(is_active=True).exclude(fallback=""):
        if said := profile_error(row.fallback):
            yield StoredProblem(row=row, text=said)


def rows_of_site(model: type[ConfigurationRow]) -> list[Any]:
    """Return the rows of one of `TAUGHT`, without what persons keep for themselves."""
    return [row for row in rows_of(model) if getattr(row, "owner_id", None) is None]


def taught_problems(model: type[ConfigurationRow]) -> Iterator[StoredProblem]:
    """Yield the rows of one of `TAUGHT` that are on and name what is gone."""
    modules = {"", *module_ids()}
    for row in rows_of_site(model):
        if not row.is_active:
            continue
        if row.module not in modules:
            yield StoredProblem(row=row, text=_no_module(row.module))
        for said in _gone_tools(getattr(row, "allowed_tools", "")):
            yield StoredProblem(row=row, text=said)


def _gone_tools(names: str) -> Iterator[str]:
    return gone_tools(name for name in names.split() if "*" not in name)


def _no_module(name: str) -> str:
    return _("There is no module “%(module)s” any more.") % {"module": name}


def _gone_of(row: Agent) -> Iterator[str]:
    if row.profile and (said := profile_error(row.profile)):
        yield said
    yield from _gone_tools(row.tools)
    if row.loop and row.loop not in (loops := registry.parts("loop")):
        sentence = _("There is no “%(name)s”. There are: %(known)s.")
        yield sentence % {"name": row.loop, "known": ", ".join(sorted(loops))}
