"""What cannot be in a row that is saved, beside what its model says itself."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ai_assistant import conf
from ai_assistant.configuration.command_arguments import schema_problem
from ai_assistant.configuration.problems.modules import made_problems
from ai_assistant.configuration.profiles import profile_problems
from ai_assistant.configuration.setup import command_of_row, registered_agents
from ai_assistant.models.configuration import (
    Agent,
    Memory,
    Profile,
    PromptCommand,
)
from ai_assistant.models.module import Module
from ai_assistant.models.policy import PolicyRule
from ai_assistant.models.run import UNFINISHED, Run
from ai_assistant.modules.resolve import module_ids
from ai_assistant.providers.reasoning import reasoning_problem
from ai_assistant.registry import registry
from ai_assistant.safety.policy.policy import DECISIONS, Rule, loosens, meant_by

Problems = Iterator[tuple[str, str]]  # a field, and a sentence
STRICTER = gettext_lazy(
    "The code of these tools is stricter, and a rule cannot loosen it: %(tools)s."
)


def row_problems(row: Any, maker: Any = None, *, was_active: bool = False) -> Problems:
    """
    Yield what forms and files refuse: the field and a sentence for each problem.

    `maker` is who makes the row, None the shell of the site; `was_active` says that it
    was stored and on before.
    """
    yield from _of_module(row)
    if isinstance(row, Agent):
        yield from _of_agent(row)
    elif isinstance(row, Module):
        yield from made_problems(row, maker)
    elif isinstance(row, PolicyRule):
        yield from _of_rule(row)
    elif isinstance(row, PromptCommand):
        yield from _of_command(row)
    elif isinstance(row, Memory):
        yield from _of_memory(row)
    elif isinstance(row, Profile):
        yield from profile_problems(row).items()
        if was_active and not row.is_active:
            yield from (("is_active", use) for use in uses_of(row.name))


def _of_module(row: Any) -> Problems:
    module = getattr(row, "module", None)
    if module and module not in module_ids():
        sentence = _("There is no module “%(module)s”. Use one of: %(known)s.")
        yield "module", sentence % {"module": module, "known": ", ".join(module_ids())}


def _of_agent(row: Agent) -> Problems:
    """Yield an effort that there is not, or a budget that leaves no answer."""
    profile = conf.profiles().get(row.profile or conf.DEFAULT, {})
    reasoning = row.reasoning.strip()
    if problem := reasoning and reasoning_problem(profile, reasoning):
        yield "reasoning", _("Reasoning %(problem)s") % {"problem": problem}


def _of_rule(row: PolicyRule) -> Problems:
    """Yield a rule that no tool of its pattern lets count."""
    names, wrong = loosened_by(row.tools, row.decision)
    if wrong and len(wrong) == len(names):
        yield "decision", STRICTER % {"tools": ", ".join(wrong)}


def loosened_by(pattern: str, decision: str) -> tuple[list[str], list[str]]:
    """Return the tools of a pattern, and those of them whose code is stricter."""
    tools = registry.tools()
    names = meant_by(pattern, tools)
    rule = Rule(tools=pattern, decision=decision, row=True)  # type: ignore[arg-type]
    is_known = decision in DECISIONS
    return names, [n for n in names if is_known and loosens(tools[n], rule)]


def _of_command(row: PromptCommand) -> Problems:
    if problem := schema_problem(command_of_row(row)):
        sentence = _("Write the JSON schema of an object. %(problem)s")
        yield "arguments", sentence % {"problem": problem}


def _of_memory(row: Memory) -> Problems:
    if row.text != " ".join(row.text.split()):
        yield "text", _("Write it on one line.")


def uses_of(name: str) -> list[str]:
    """Return what depends on a profile, in sentences."""
    named = {"name": name}
    found = [
        _("The agent “%(agent)s” uses it.") % {"agent": agent.name}
        for agent in registered_agents()
        if agent.profile == name
    ]
    found += [
        _("The profile “%(other)s” falls back to it.") % {"other": other}
        for other, own in conf.profiles().items()
        if own.get("FALLBACK") == name
    ]
    found += [
        _("The setting %(setting)s names it.") % {"setting": setting}
        for setting in ("TITLE_PROFILE", "SUMMARY_PROFILE")
        if conf.get(setting) == name
    ]
    if name == conf.DEFAULT:
        found.append(_("All conversations use “%(name)s” by default.") % named)
    count = Run.objects.filter(profile=name, state__in=UNFINISHED).count()
    if count:
        sentence = ngettext(
            "%(count)s run with it is under way.",
            "%(count)s runs with it are under way.",
            count,
        )
        found.append(sentence % {"count": count})
    return found
