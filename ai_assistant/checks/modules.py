"""The registered modules and context providers: what they name that is not there."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.urls import URLResolver, get_resolver

from ai_assistant.checks.site import has_address
from ai_assistant.checks.tools import tool_place
from ai_assistant.context.page import ADMIN_ACTIONS, ADMIN_PAGES
from ai_assistant.modules.base import (
    FEATURES,
    NOT_BUILT,
    PROMPT_CHARS,
    ContextModule,
    tool_name,
)
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


def check_context() -> list[CheckMessage]:
    """Return what is wrong with the providers, each with its place in the code."""
    providers = list(registry.contexts().values())
    of_views = [one for one in providers if one.view and one.view not in ACTIONS]
    names = site_views() if of_views else []
    return [
        *(message for one in providers for message in _model(one)),
        *(message for one in of_views if names for message in _view(one, names)),
    ]


def _place(provider: ContextProvider) -> str:
    return f"Context provider {provider.name!r} ({provider.origin})"


def _model(provider: ContextProvider) -> Iterator[CheckMessage]:
    if not provider.model:
        return
    try:
        apps.get_model(provider.model)
    except (LookupError, ValueError):
        known = sorted(model._meta.label_lower for model in apps.get_models())
        near = get_close_matches(provider.model.lower(), known, n=1)
        yield Error(
            f"{_place(provider)} is for the model {provider.model!r}, which does not "
            "exist.",
            hint=f"Write {near[0]!r}." if near else "Write it as 'app.model'.",
            id="ai_assistant.E120",
        )


def _view(provider: ContextProvider, names: list[str]) -> Iterator[CheckMessage]:
    if provider.view in names:
        return
    near = get_close_matches(provider.view, [*ACTIONS, *names], n=1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    yield Error(
        f"{_place(provider)} is for the view {provider.view!r}, which does not exist.",
        hint=(
            f"{meant}Use one of {', '.join(ACTIONS)}, or the name of a view with its "
            "namespace."
        ),
        id="ai_assistant.E121",
    )


SEQUENCES = ("matches", "tools", "suggestions")
KNOWN = [name for name in vars(ContextModule) if not name.startswith("_")]
NEAR = 0.82  # of difflib: 'tool' is near to 'tools', 'table' not to 'label'


def check_modules() -> list[CheckMessage]:
    """Return what is wrong with the modules, each with its place in the code."""
    found = [
        message
        for module in registry.modules().values()
        for check in CHECKS
        for message in check(module)
    ]
    return [*_ambiguous(), *found, *_unmatched(), *_replaced()]


def _modules_place(module: Any) -> str:
    return f"Module {module.id!r} ({type(module).__module__})"


def _ambiguous() -> Iterator[CheckMessage]:
    for pattern, first, second in ambiguous_patterns():
        if isinstance(first.matches, str) or isinstance(second.matches, str):
            continue  # its letters; E109 tells
        yield Error(
            f"{_modules_place(second)} matches {pattern!r} as {_modules_place(first)} does.",
            hint="Give one of them a more specific match, or leave it out.",
            id="ai_assistant.E100",
        )


def _unmatched() -> Iterator[CheckMessage]:
    modules = [one for one in registry.modules().values() if one.matches]
    names = site_views() if modules else []
    for module in modules if names else ():
        # E109 tells of a text.
        patterns = () if isinstance(module.matches, str) else module.matches
        for pattern in patterns:
            yield from _matches_nothing(module, pattern, names)


def _matches_nothing(
    module: ContextModule, pattern: str, names: list[str]
) -> Iterator[CheckMessage]:
    wanted = re.compile(".*".join(map(re.escape, pattern.split("*"))))
    if any(map(wanted.fullmatch, names)):
        return
    near = get_close_matches(pattern, names, n=1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    yield Warning(
        f"{_modules_place(module)} matches {pattern!r}, and no view has such a name.",
        hint=f"{meant}Give the name of a view with its namespace.",
        id="ai_assistant.W111",
    )


def _texts(module: ContextModule) -> Iterator[CheckMessage]:
    for name in SEQUENCES:
        value: object = getattr(module, name)
        if isinstance(value, str):
            yield Error(
                f"{_modules_place(module)} gives {name!r} as a text: each letter counts as "
                "one of them.",
                hint=f"Write {name} = [{value!r}].",
                id="ai_assistant.E109",
            )


def _misspelt(module: ContextModule) -> Iterator[CheckMessage]:
    own = (one for one in type(module).__mro__ if issubclass(one, ContextModule))
    names = [name for one in own if one is not ContextModule for name in vars(one)]
    for name in dict.fromkeys(names):
        if name.startswith("_") or name in KNOWN:
            continue
        near = get_close_matches(name, KNOWN, n=1, cutoff=NEAR)
        if near:
            yield Warning(
                f"{_modules_place(module)} has {name!r}, which nothing reads.",
                hint=(
                    f"Write {near[0]!r}, if that is meant; or give it a name of its "
                    "own."
                ),
                id="ai_assistant.W110",
            )


def _tools(module: ContextModule) -> Iterator[CheckMessage]:
    if isinstance(module.tools, str):
        return  # E109 tells
    for name in map(tool_name, module.tools):
        if registry.tool(name) is None:
            yield Error(
                f"{_modules_place(module)} has the tool {name!r}, which is not registered.",
                hint="Correct its name, or decorate it with ai_assistant.tool.",
                id="ai_assistant.E101",
            )


def _hidden_tools(module: ContextModule) -> Iterator[CheckMessage]:
    if type(module).get_tools is not ContextModule.get_tools and not module.tools:
        yield Warning(
            f"{_modules_place(module)} has a get_tools, and no 'tools': what it returns is "
            "offered on the pages of others too.",
            hint="Name in 'tools' all that get_tools may return.",
            id="ai_assistant.W108",
        )


def _overrides(module: ContextModule) -> Iterator[CheckMessage]:
    own = set(map(tool_name, module.tools))
    for shared, instead in module.overrides.items():
        if registry.tool(shared) is None:
            yield _wrong_override(module, f"{shared!r}, which is not registered")
        elif tool_name(instead) not in own:
            name = tool_name(instead)
            yield _wrong_override(
                module, f"{shared!r} by {name!r}, which is not among its tools"
            )


def _wrong_override(module: ContextModule, what: str) -> CheckMessage:
    return Error(
        f"{_modules_place(module)} overrides {what}.",
        hint="Write overrides = {'<shared tool>': '<one of its tools>'}.",
        id="ai_assistant.E102",
    )


def _features(module: ContextModule) -> Iterator[CheckMessage]:
    for name, wanted in module.features.items():
        if name not in FEATURES:
            yield Error(
                f"{_modules_place(module)} has the feature {name!r}, which does not exist.",
                hint=f"Use one of: {', '.join(FEATURES)}.",
                id="ai_assistant.E103",
            )
        elif wanted and name in NOT_BUILT:
            yield Warning(
                f"{_modules_place(module)} wants the feature {name!r}, which this version "
                "does not have.",
                hint="Leave it out; nothing comes of it.",
                id="ai_assistant.W104",
            )


def _prompt(module: ContextModule) -> Iterator[CheckMessage]:
    size = len(str(module.prompt))
    if size > PROMPT_CHARS:
        yield Warning(
            f"{_modules_place(module)} has a prompt of {size:,} characters: the model is told "
            f"the first {PROMPT_CHARS:,}.",
            hint="Shorten it, and let the model read large parts by a tool.",
            id="ai_assistant.W112",
        )


CHECKS = (
    *(_texts, _misspelt, _tools, _hidden_tools),
    *(_overrides, _features, _prompt),
)


def _replaced() -> Iterator[CheckMessage]:
    for name, before in registry.replaced.items():
        now = registry.tool(name)
        if now is None or not before.offer.shared or now.origin == before.origin:
            continue
        yield Warning(
            f"{tool_place(now)} stands in for the shared one of {before.origin} on every "
            "page.",
            hint=(
                "Give it a name of its own and name it in the overrides of the modules "
                "that need it; or silence this if every page is meant."
            ),
            id="ai_assistant.W105",
        )
