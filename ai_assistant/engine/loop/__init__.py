"""
The agent's loop: ask the model, execute its calls, ask again.

Plain Python: it knows no Django, no database and no socket. What it needs it
gets through the ports; what happens it yields.
"""

from ai_assistant.engine.loop.loop import run_loop
from ai_assistant.engine.loop.ports import (
    CallDraft,
    CallOutcome,
    Calls,
    Finished,
    Limits,
    LoopItem,
    LoopState,
    Model,
    Waiting,
)

__all__ = [
    "CallDraft",
    "CallOutcome",
    "Calls",
    "Finished",
    "Limits",
    "LoopItem",
    "LoopState",
    "Model",
    "Waiting",
    "run_loop",
]
