"""The registered modules and context providers: names that do not exist."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage
from django.urls import URLResolver, get_resolver

from ai_assistant.checks.messages import Fault, has_model, nearest, problem
from ai_assistant.checks.site import has_address
from ai_assistant.checks.tools import tool_place
from ai_assistant.configuration.files import problems
from ai_assistant.context.page import ADMIN_ACTIONS, ADMIN_PAGES
from ai_assistant.modules.base import (
    FEATURES,
    LIMITS,
    NOT_BUILT,
    PROMPT_CHARS,
    ContextModule,
    tool_name,
)
from ai_assistant.modules.configured import can_roll_back
from ai_assistant.modules.limits import limit_value
from ai_assistant.modules.resolve import ambiguous_patterns
from ai_assistant.registry import registry
from ai_assistant.types import ContextProvider


def site_views() -> list[str]:
    """Return all names with their namespaces; none if E028 or E029 come first."""
    has_urls = getattr(settings, "ROOT_URLCONF", None) and has_address("admin:login")
    return sorted(set(_below(get_resolver()))) if has_urls else []


def _below(resolver: URLResolver, namespace: str = "") -> Iterator[str]:
    entry: Any
    for entry in resolver.url_patterns:
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from _below(entry, inner)
        else:
            yield namespace + (entry.name or entry.lookup_str)


ACTIONS = sorted({*ADMIN_ACTIONS, *ADMIN_PAGES.values()})


def check_files() -> Iterator[CheckMessage]:
    """Yield which skills and prompt commands that are files are not there, and why."""
    for fault in problems:
        yield problem(
            "ai_assistant.E114",
            f"{fault}",
            "The file is left out until it is mended; see docs/skills.md.",
        )


def check_module_skills() -> Iterator[CheckMessage]:
    """Yield the skills that modules name and no app has; a row may be added later."""
    known = sorted(registry.parts("skill"))
    for module in registry.modules().values():
        for name in module.skills:
            if name not in known:
                near = nearest(name, known)
                hint = f"Write {near!r}." if near else "Add its SKILL.md, or a row."
                place = f"Module {module.id!r} ({type(module).__module__})"
                text = f"{place} loads the skill {name!r}, which no app has."
                yield problem("ai_assistant.W115", text, hint)


def check_context() -> Iterator[CheckMessage]:
    """Yield what is wrong with the providers, each with its place in the code."""
    providers = list(registry.contexts().values())
    has_views = any(
        provider.view and provider.view not in ACTIONS for provider in providers
    )
    names = site_views() if has_views else []
    for provider in providers:
        place = f"Context provider {provider.name!r} ({provider.origin})"
        for check_id, fault_text, hint in _wrong_provider(provider, names):
            yield problem(check_id, f"{place} is for the {fault_text}", hint)


def _wrong_provider(provider: ContextProvider, names: list[str]) -> Iterator[Fault]:
    if provider.model and not has_model(provider.model):
        labels = sorted(model._meta.label_lower for model in apps.get_models())
        near = nearest(provider.model.lower(), labels)
        yield (
            "ai_assistant.E120",
            f"model {provider.model!r}, which does not exist.",
            f"Write {near!r}." if near else "Write it as 'app.model'.",
        )
    if provider.view and names and provider.view not in (*ACTIONS, *names):
        near = nearest(provider.view, [*ACTIONS, *names])
        suggestion = f"Did you mean {near!r}? " if near else ""
        yield (
            "ai_assistant.E121",
            f"view {provider.view!r}, which does not exist.",
            f"{suggestion}Use one of {', '.join(ACTIONS)}, or the name of a view with its "
            "namespace.",
        )


SEQUENCES = ("matches", "tools", "suggestions", "api_operations")
KNOWN = [name for name in vars(ContextModule) if not name.startswith("_")]
NEAR = 0.82  # of difflib: 'tool' is near to 'tools', 'table' not to 'label'


def check_modules() -> Iterator[CheckMessage]:
    """Yield what is wrong with the modules, each with its place in the code."""
    yield from _ambiguous()
    modules = registry.modules().values()
    names = site_views() if any(module.matches for module in modules) else []
    for module in modules:
        faults = (fault for check in CHECKS for fault in check(module))
        for check_id, fault_text, hint in chain(faults, _unmatched(module, names)):
            yield problem(check_id, f"{_modules_place(module)} {fault_text}", hint)
    yield from _replaced()


def _modules_place(module: Any) -> str:
    return f"Module {module.id!r} ({type(module).__module__})"


def _ambiguous() -> Iterator[CheckMessage]:
    for pattern, first, second in ambiguous_patterns():
        if isinstance(first.matches, str) or isinstance(second.matches, str):
            continue  # its letters; E109 reports it
        yield problem(
            "ai_assistant.E100",
            f"{_modules_place(second)} matches {pattern!r} as {_modules_place(first)} does.",
            "Give one of them a more specific match, or remove it.",
        )


def _unmatched(module: ContextModule, names: list[str]) -> Iterator[Fault]:
    if isinstance(module.matches, str) or not names:
        return  # E109 reports a text
    for pattern in module.matches:
        regex = re.compile(".*".join(map(re.escape, pattern.split("*"))))
        if not any(map(regex.fullmatch, names)):
            near = nearest(pattern, names)
            suggestion = f"Did you mean {near!r}? " if near else ""
            yield (
                "ai_assistant.W111",
                f"matches {pattern!r}, and no view has such a name.",
                f"{suggestion}Give the name of a view with its namespace.",
            )


def _texts(module: ContextModule) -> Iterator[Fault]:
    for name in SEQUENCES:
        value: object = getattr(module, name)
        if isinstance(value, str):
            yield (
                "ai_assistant.E109",
                f"gives {name!r} as a string: each letter counts as one of them.",
                f"Write {name} = [{value!r}].",
            )


def _misspelt(module: ContextModule) -> Iterator[Fault]:
    bases = (base for base in type(module).__mro__ if issubclass(base, ContextModule))
    names = [name for base in bases if base is not ContextModule for name in vars(base)]
    for name in dict.fromkeys(names):
        if name.startswith("_") or name in KNOWN:
            continue
        if near := nearest(name, KNOWN, NEAR):
            yield (
                "ai_assistant.W110",
                f"has {name!r}, which nothing uses.",
                f"Write {near!r}, if that is meant, or choose a less similar name.",
            )


def _tools(module: ContextModule) -> Iterator[Fault]:
    if isinstance(module.tools, str):
        return  # E109 reports it
    for name in map(tool_name, module.tools):
        if registry.tool(name) is None:
            yield (
                "ai_assistant.E101",
                f"has the tool {name!r}, which is not registered.",
                "Correct its name, or decorate it with ai_assistant.tool.",
            )


def _hidden_tools(module: ContextModule) -> Iterator[Fault]:
    if type(module).get_tools is not ContextModule.get_tools and not module.tools:
        yield (
            "ai_assistant.W108",
            "has get_tools but no 'tools': what it returns is offered on the pages of "
            "other modules too.",
            "List in 'tools' everything that get_tools may return.",
        )


def _overrides(module: ContextModule) -> Iterator[Fault]:
    own_tools = set(map(tool_name, module.tools))
    for shared, replacement in module.overrides.items():
        name = tool_name(replacement)
        if registry.tool(shared) is None:
            fault_text = f"{shared!r}, which is not registered"
        elif name not in own_tools:
            fault_text = f"{shared!r} by {name!r}, which is not among its tools"
        else:
            continue
        yield (
            "ai_assistant.E102",
            f"overrides {fault_text}.",
            "Write overrides = {'<shared tool>': '<one of its tools>'}.",
        )


def _features(module: ContextModule) -> Iterator[Fault]:
    for name, is_enabled in module.features.items():
        if name not in FEATURES:
            yield (
                "ai_assistant.E103",
                f"has the feature {name!r}, which does not exist.",
                f"Use one of: {', '.join(FEATURES)}.",
            )
        elif is_enabled and name in NOT_BUILT:
            yield (
                "ai_assistant.W104",
                f"wants the feature {name!r}, which this version does not have.",
                "It has no effect; remove it.",
            )
        elif is_enabled and name == "rollback" and not can_roll_back(type(module)):
            yield (
                "ai_assistant.E113",
                "has the feature 'rollback' without take_snapshot and apply_rollback.",
                "Define both, or remove the feature.",
            )


def _limits(module: ContextModule) -> Iterator[Fault]:
    for name, value in module.limits.items():
        if name not in LIMITS or limit_value(value) is None:
            yield (
                "ai_assistant.E116",
                f"has the limit {name!r}: {value!r}, which limits nothing.",
                f"Give a number above 0 for one of: {', '.join(LIMITS)}.",
            )


def _prompt(module: ContextModule) -> Iterator[Fault]:
    size = len(str(module.prompt))
    if size > PROMPT_CHARS:
        yield (
            "ai_assistant.W112",
            f"has a prompt of {size:,} characters: the model is given only the first "
            f"{PROMPT_CHARS:,}.",
            "Shorten it, and let the model read large parts with a tool.",
        )


CHECKS = (
    _texts,
    _misspelt,
    _tools,
    _hidden_tools,
    _overrides,
    _features,
    _limits,
    _prompt,
)


def _replaced() -> Iterator[CheckMessage]:
    for name, before in registry.replaced.items():
        tool = registry.tool(name)
        if tool is None or not before.offer.shared or tool.origin == before.origin:
            continue
        yield problem(
            "ai_assistant.W105",
            f"{tool_place(tool)} replaces the shared one of {before.origin} on every "
            "page.",
            "Give it a name of its own and name it in the overrides of the modules "
            "that need it; or silence this if every page is meant.",
        )
