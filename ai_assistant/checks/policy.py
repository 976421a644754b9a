"""Which tools run, ask or are refused."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from ai_assistant import conf
from ai_assistant.models.patterns import pattern_error
from ai_assistant.registry import registry
from ai_assistant.safety.rules import DECISIONS, meant_by


def check_policy() -> list[CheckMessage]:
    """Return what is wrong with AI_ASSISTANT['POLICY']."""
    policy: Mapping[Any, Any] = conf.get("POLICY")
    return [message for tools, said in policy.items() for message in _one(tools, said)]


def _one(tools: Any, said: object) -> Iterator[CheckMessage]:  # noqa: ANN401
    place = f"AI_ASSISTANT['POLICY'][{tools!r}]"
    if said not in DECISIONS:
        yield Error(
            f"{place} is {said!r}.",
            hint="Use 'allow', 'ask' or 'deny'.",
            id="ai_assistant.E070",
        )
    if error := _key_error(tools):
        yield Error(
            f"Pattern {tools!r} of AI_ASSISTANT['POLICY'] {error}.",
            hint="Write a simpler one, or the name of a tool.",
            id="ai_assistant.E170",
        )
        return
    every = registry.tools()
    meant = [every[name] for name in meant_by(tools, every)]
    if not meant:
        known = ", ".join(sorted(registry.tools())) or "none"
        yield Warning(
            f"AI_ASSISTANT['POLICY'] names {tools!r}, and there is no tool of that "
            "name.",
            hint=f"Correct or remove it. Registered are: {known}.",
            id="ai_assistant.W071",
        )
    elif said == "allow" and all(tool.effect == "destructive" for tool in meant):
        yield Warning(
            f"{place} is 'allow', but the tool is destructive: it asks all the same.",
            hint="Use 'ask' or 'deny'.",
            id="ai_assistant.W072",
        )


def _key_error(tools: object) -> str:
    return pattern_error(tools) if isinstance(tools, str) else "is no text"
