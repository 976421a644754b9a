"""What the loop needs from outside."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from ai_assistant.types import ModelChunk


@dataclass(frozen=True, kw_only=True, slots=True)
class CallOutcome:
    """How one call ended. `fingerprint` is the same for the same call again."""

    fingerprint: str
    failed: bool


class Model(Protocol):
    """The way to the model, with everything that it has to be told."""

    def stream(self, step_index: int) -> AsyncGenerator[ModelChunk, None]:
        """Yield the chunks of one reply. Raise ModelError if there is none."""
        ...


class Calls(Protocol):
    """The way to the tools."""

    async def run(self, step_index: int) -> list[CallOutcome] | None:
        """
        Carry out the open calls of a stored step; None if one has to wait.

        When it returns a list, every call of the step has its one result.
        """
        ...
