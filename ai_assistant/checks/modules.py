"""The registered modules: what they name and is not there, and who wins unseen."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from ai_assistant.checks.tools import place
from ai_assistant.checks.views import site_views
from ai_assistant.modules.base import (
    FEATURES,
    NOT_BUILT,
    PROMPT_CHARS,
    ContextModule,
    tool_name,
)
from ai_assistant.modules.resolve import ambiguous
from ai_assistant.registry import registry

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


def _place(module: Any) -> str:  # noqa: ANN401 - a ContextModule
    return f"Module {module.id!r} ({type(module).__module__})"


def _ambiguous() -> Iterator[CheckMessage]:
    for pattern, first, second in ambiguous():
        if isinstance(first.matches, str) or isinstance(second.matches, str):
            continue  # its letters; E109 tells
        yield Error(
            f"{_place(second)} matches {pattern!r} as {_place(first)} does.",
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
        f"{_place(module)} matches {pattern!r}, and no view has such a name.",
        hint=f"{meant}Give the name of a view with its namespace.",
        id="ai_assistant.W111",
    )


def _texts(module: ContextModule) -> Iterator[CheckMessage]:
    for name in SEQUENCES:
        value: object = getattr(module, name)
        if isinstance(value, str):
            yield Error(
                f"{_place(module)} gives {name!r} as a text: each letter counts as "
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
                f"{_place(module)} has {name!r}, which nothing reads.",
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
                f"{_place(module)} has the tool {name!r}, which is not registered.",
                hint="Correct its name, or decorate it with ai_assistant.tool.",
                id="ai_assistant.E101",
            )


def _hidden_tools(module: ContextModule) -> Iterator[CheckMessage]:
    if type(module).get_tools is not ContextModule.get_tools and not module.tools:
        yield Warning(
            f"{_place(module)} has a get_tools, and no 'tools': what it returns is "
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
        f"{_place(module)} overrides {what}.",
        hint="Write overrides = {'<shared tool>': '<one of its tools>'}.",
        id="ai_assistant.E102",
    )


def _features(module: ContextModule) -> Iterator[CheckMessage]:
    for name, wanted in module.features.items():
        if name not in FEATURES:
            yield Error(
                f"{_place(module)} has the feature {name!r}, which does not exist.",
                hint=f"Use one of: {', '.join(FEATURES)}.",
                id="ai_assistant.E103",
            )
        elif wanted and name in NOT_BUILT:
            yield Warning(
                f"{_place(module)} wants the feature {name!r}, which this version "
                "does not have.",
                hint="Leave it out; nothing comes of it.",
                id="ai_assistant.W104",
            )


def _prompt(module: ContextModule) -> Iterator[CheckMessage]:
    size = len(str(module.prompt))
    if size > PROMPT_CHARS:
        yield Warning(
            f"{_place(module)} has a prompt of {size:,} characters: the model is told "
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
        if now is None or not before.shared or now.origin == before.origin:
            continue
        yield Warning(
            f"{place(now)} stands in for the shared one of {before.origin} on every "
            "page.",
            hint=(
                "Give it a name of its own and name it in the overrides of the modules "
                "that need it; or silence this if every page is meant."
            ),
            id="ai_assistant.W105",
        )
