"""
Helpers for the tests of a site: scripted models, and runs without a server.

Nothing here imports a model of Django, so that a settings module may name it.
"""

from ai_assistant.testing.hooks import PlayedHook, assert_runs_apart, play_hook
from ai_assistant.testing.recorded import (
    Played,
    PlayedCall,
    assert_tool_called,
    assert_tool_not_called,
)
from ai_assistant.testing.run import (
    answer_interrupt,
    override_tools,
    run_assistant,
    temporary_registration,
)
from ai_assistant.testing.scripted import (
    FunctionProvider,
    ScriptedProvider,
    call,
    reasoning,
    reply,
)

__all__ = [
    "FunctionProvider",
    "Played",
    "PlayedCall",
    "PlayedHook",
    "ScriptedProvider",
    "answer_interrupt",
    "assert_runs_apart",
    "assert_tool_called",
    "assert_tool_not_called",
    "call",
    "override_tools",
    "play_hook",
    "reasoning",
    "reply",
    "run_assistant",
    "temporary_registration",
]
