"""The registered modules: what they name and is not there, and who wins unseen."""

from collections.abc import Iterator
from typing import Any

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from ai_assistant.checks.tools import place
from ai_assistant.modules.base import FEATURES, NOT_BUILT, ContextModule, tool_name
from ai_assistant.modules.resolve import ambiguous
from ai_assistant.registry import registry


def check_modules() -> list[CheckMessage]:
    """Return what is wrong with the modules, each with its place in the code."""
    found = [
        message
        for module in registry.modules().values()
        for check in (_tools, _hidden_tools, _overrides, _features)
        for message in check(module)
    ]
    return [*_ambiguous(), *found, *_replaced()]


def _place(module: Any) -> str:  # noqa: ANN401 - a ContextModule
    return f"Module {module.id!r} ({type(module).__module__})"


def _ambiguous() -> Iterator[CheckMessage]:
    for pattern, first, second in ambiguous():
        yield Error(
            f"{_place(second)} matches {pattern!r} as {_place(first)} does.",
            hint="Give one of them a more specific match, or leave it out.",
            id="ai_assistant.E100",
        )


def _tools(module: ContextModule) -> Iterator[CheckMessage]:
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
