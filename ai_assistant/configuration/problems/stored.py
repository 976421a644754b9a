"""What has become wrong with rows that were right when they were saved."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.configuration.problems.modules import gone_tools, profile_error
from ai_assistant.configuration.rows import rows_of
from ai_assistant.models.configuration import Agent, Profile
from ai_assistant.models.policy import PolicyRule, pattern_error
from ai_assistant.modules.resolve import module_ids
from ai_assistant.registry import registry
from ai_assistant.safety.policy.policy import meant_by


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
            said = _("There is no module “%(module)s” any more.")
            yield StoredProblem(row=row, text=said % {"module": row.module})
        elif error := pattern_error(row.tools):
            said = _("Pattern “%(tools)s” %(error)s. Write a simpler one.")
            values = {"tools": row.tools, "error": error}
            yield StoredProblem(row=row, text=said % values)
        elif not meant_by(row.tools, tools):
            said = _("There is no tool “%(tools)s” yet: the rule has no effect.")
            yield StoredProblem(row=row, text=said % {"tools": row.tools})


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


def _gone_of(row: Agent) -> Iterator[str]:
    if row.profile and (said := profile_error(row.profile)):
        yield said
    yield from gone_tools(name for name in row.tools.split() if "*" not in name)
    if row.loop and row.loop not in (loops := registry.parts("loop")):
        sentence = _("There is no “%(name)s”. There are: %(known)s.")
        yield sentence % {"name": row.loop, "known": ", ".join(sorted(loops))}
