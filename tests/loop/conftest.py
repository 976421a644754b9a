"""The loop's ports in memory, and a way to collect what it yields."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

import pytest

from ai_assistant.engine.loop import CallOutcome, Limits, LoopItem, LoopState, run_loop
from ai_assistant.testing import ScriptedProvider
from ai_assistant.types import ModelChunk, ModelRequest, Provider

LIMITS = Limits(steps=10, calls=25, same_failures=3, running_s=1800.0)
DONE = CallOutcome(fingerprint="done", failed=False)
FAILED = CallOutcome(fingerprint="same", failed=True)


class ModelInMemory:
    """Asks a provider, and keeps for which steps it was asked."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.steps: list[int] = []

    async def stream(self, step_index: int) -> AsyncGenerator[ModelChunk, None]:
        self.steps.append(step_index)
        request = ModelRequest(model="scripted", messages=[])
        stream = self.provider.stream(request)
        try:
            async for chunk in stream:
                yield chunk
        finally:
            await stream.aclose()


@dataclass
class CallsInMemory:
    """Plays a list of what becomes of the calls: outcomes, or None for a wait."""

    outcomes: list[list[CallOutcome] | None] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)

    async def run(self, step_index: int) -> list[CallOutcome] | None:
        self.steps.append(step_index)
        return self.outcomes.pop(0)


@pytest.fixture
def calls() -> CallsInMemory:
    return CallsInMemory()


@pytest.fixture
def collect(calls: CallsInMemory) -> Callable[..., list[LoopItem]]:
    """Run the loop to its end and return what it yielded."""

    async def run(
        *replies: object,
        state: LoopState | None = None,
        limits: Limits = LIMITS,
        provider: Provider | None = None,
        **more: object,
    ) -> list[LoopItem]:
        model = ModelInMemory(provider or ScriptedProvider(list(replies)))
        state = state or LoopState()
        return [item async for item in run_loop(model, calls, state, limits, **more)]

    return run
