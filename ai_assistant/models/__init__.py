"""The tables: the only truth about a conversation."""

from ai_assistant.models.call import ToolCall
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.event import RunEvent
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.models.step import Step
from ai_assistant.models.tool_version import ToolVersion

__all__ = [
    "Conversation",
    "Interrupt",
    "Message",
    "Run",
    "RunEvent",
    "Step",
    "ToolCall",
    "ToolVersion",
]
