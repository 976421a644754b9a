"""What holds for a run, value by value, and where each comes from."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ai_assistant import conf
from ai_assistant.configuration.setup import agent_of_run
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models.run import Run
from ai_assistant.modules.limits import limits_of
from ai_assistant.modules.resolve import module_by_id
from ai_assistant.types import Agent

Source = Literal["site", "profile", "module", "agent", "conversation"]


@dataclass(frozen=True, kw_only=True, slots=True)
class EffectiveValue:
    """One value that holds for a run. `source` is who has said it last."""

    name: str
    value: Any
    source: Source


def effective_values(run: Run) -> list[EffectiveValue]:
    """
    Return what holds for a run.

    That of the site, or what its profile, its agent or the user's choice in the
    conversation says instead, in this order.
    """
    agent = agent_of_run(run.pk, run.agent) or Agent(name="")
    try:
        profile = conf.profile(run.profile)
    except ImproperlyConfiguredAssistant:
        profile = {}  # it is gone
    values = (
        ("loop", agent.loop, "default"),
        ("tools", ", ".join(agent.tools), "*"),
        ("modules", ", ".join(agent.modules), "*"),
    )
    found = [
        EffectiveValue(
            name="agent",
            value=run.agent,
            source="conversation" if run.agent else "site",
        ),
        _profile(run, agent),
        EffectiveValue(name="model", value=profile.get("MODEL", ""), source="profile"),
        EffectiveValue(
            name="fallback", value=profile.get("FALLBACK", ""), source="profile"
        ),
        EffectiveValue(
            name="reasoning",
            value=agent.reasoning or profile.get("REASONING", ""),
            source="agent" if agent.reasoning else "profile",
        ),
    ]
    found += _limits(run, agent)
    found += [
        EffectiveValue(name=name, value=own or of_site, source=_of(own))
        for name, own, of_site in values
    ]
    return [one for one in found if one.value not in ("", None)]


def _limits(run: Run, agent: Agent) -> Iterator[EffectiveValue]:
    """Yield the limits of the run; its module tightens what agent and site say."""
    own = limits_of(module_by_id(run.module))
    of_site = conf.get("LIMITS")
    for name, said, most, of_module in (
        ("steps", agent.steps, of_site["STEPS"], own.steps),
        ("run_s", agent.run_s, of_site["RUN_S"], own.run_s),
    ):
        holds = said or most
        if of_module is not None and of_module < holds:
            yield EffectiveValue(name=name, value=of_module, source="module")
        else:
            yield EffectiveValue(name=name, value=holds, source=_of(said))
    for name, limit in (("tokens", own.tokens), ("usd", own.usd)):
        yield EffectiveValue(name=name, value=limit, source="module")


def _of(own: object) -> Source:
    return "agent" if own else "site"


def _profile(run: Run, agent: Agent) -> EffectiveValue:
    source: Source = "site" if run.profile == conf.DEFAULT else "conversation"
    if run.profile == module_by_id(run.module).configured.profile:
        source = "module"
    if agent.profile and agent.profile == run.profile:
        source = "agent"
    return EffectiveValue(name="profile", value=run.profile, source=source)
