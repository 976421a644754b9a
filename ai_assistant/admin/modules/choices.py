"""What may be chosen for a module."""

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.configuration.problems.modules import actions_of, models_of
from ai_assistant.configuration.profiles import profile_label
from ai_assistant.configuration.setup import registered_agents
from ai_assistant.registry import registry
from ai_assistant.tools.arguments import schema_error

Choices = list[tuple[str, str]]


def tool_choices(chosen: Iterable[str]) -> Choices:
    """Return the tools to choose from, and those that were chosen and are gone."""
    tools = {
        name: f"{name} ({tool.effect})"
        for name, tool in sorted(registry.tools().items())
        if not tool.display.renders_only and not schema_error(tool)
    }
    return [*tools.items(), *_gone(chosen, tools)]


def model_choices(maker: Any, chosen: Iterable[str]) -> Choices:
    """Return the models of the admin that the maker may see."""
    labels = sorted(model._meta.label_lower for model in models_of(maker))
    return [*((one, one) for one in labels), *_gone(chosen, labels)]


def action_choices(maker: Any, chosen: Iterable[str]) -> Choices:
    """Return the actions of the admin that the maker may carry out."""
    found = actions_of(maker)
    return [*((one, one) for one in sorted(found)), *_gone(chosen, found)]


def agent_choices(chosen: str) -> Choices:
    """Return the agents."""
    names = {agent.name: str(agent) for agent in registered_agents()}
    return [("", "---------"), *names.items(), *_gone([chosen], names)]


def profile_choices(chosen: str) -> Choices:
    """Return the profiles."""
    names = {name: profile_label(name) for name in conf.profiles()}
    return [("", "---------"), *names.items(), *_gone([chosen], names)]


def _gone(chosen: Iterable[str], known: Iterable[str]) -> Choices:
    there = {*known, ""}
    return [(one, _("%s (gone)") % one) for one in chosen if one not in there]
