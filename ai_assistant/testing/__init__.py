"""
What the tests of a site need: models that play a part, and runs without a server.

Nothing here imports a model of Django, so that a settings module may name it.
"""

from ai_assistant.testing.assertions import assert_tool_called, assert_tool_not_called
from ai_assistant.testing.function import FunctionProvider
from ai_assistant.testing.played import Played, PlayedCall
from ai_assistant.testing.run import answer_interrupt, run_assistant
from ai_assistant.testing.scripted import ScriptedProvider, call, reasoning, reply
from ai_assistant.testing.tools import override_tools, temporary_registration

__all__ = [
    "FunctionProvider",
    "Played",
    "PlayedCall",
    "ScriptedProvider",
    "answer_interrupt",
    "assert_tool_called",
    "assert_tool_not_called",
    "call",
    "override_tools",
    "reasoning",
    "reply",
    "run_assistant",
    "temporary_registration",
]
