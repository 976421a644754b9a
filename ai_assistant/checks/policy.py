"""Which tools run, ask or are refused."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from ai_assistant import conf
from ai_assistant.registry import registry
from ai_assistant.safety.policy import DECISIONS


def check_policy() -> list[CheckMessage]:
    """Return what is wrong with AI_ASSISTANT['POLICY']."""
    policy: Mapping[str, Any] = conf.get("POLICY")
    return [message for name, said in policy.items() for message in _one(name, said)]


def _one(name: str, said: object) -> Iterator[CheckMessage]:
    place = f"AI_ASSISTANT['POLICY'][{name!r}]"
    if said not in DECISIONS:
        yield Error(
            f"{place} is {said!r}.",
            hint="Use 'allow', 'ask' or 'deny'.",
            id="ai_assistant.E070",
        )
    tool = registry.tools().get(name)
    if tool is None:
        known = ", ".join(sorted(registry.tools())) or "none"
        yield Warning(
            f"AI_ASSISTANT['POLICY'] names {name!r}, and there is no tool of that "
            "name.",
            hint=f"Correct or remove it. Registered are: {known}.",
            id="ai_assistant.W071",
        )
    elif said == "allow" and tool.effect == "destructive":
        yield Warning(
            f"{place} is 'allow', but the tool is destructive: it asks all the same.",
            hint="Use 'ask' or 'deny'.",
            id="ai_assistant.W072",
        )
