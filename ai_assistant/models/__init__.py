"""The tables: the only truth about a conversation."""

from ai_assistant.models.audit import AuditEntry, AuditHead
from ai_assistant.models.call import BackgroundCall, ToolCall, ToolVersion
from ai_assistant.models.change import ChangeSet, FileChange, RowChange, UndoStop
from ai_assistant.models.configuration import (
    Agent,
    ConfigurationFile,
    ConfigurationVersion,
    Instruction,
    Memory,
    Profile,
    PromptCommand,
    Skill,
    Suggestion,
)
from ai_assistant.models.conversation import (
    Conversation,
    Feedback,
    Message,
    QueuedMessage,
)
from ai_assistant.models.event import RunEvent
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.lock import ExecutorProcess, ObjectLock
from ai_assistant.models.module import Module
from ai_assistant.models.policy import Grant, PolicyRule
from ai_assistant.models.run import (
    ClientRun,
    PromptText,
    Run,
    Step,
    StopRequest,
)
from ai_assistant.models.token import AccessToken, Share
from ai_assistant.models.usage import (
    Budget,
    DailyUsage,
    Report,
    SummedDay,
    UsageLedger,
)

__all__ = [
    "AccessToken",
    "Agent",
    "AuditEntry",
    "AuditHead",
    "BackgroundCall",
    "Budget",
    "ChangeSet",
    "ClientRun",
    "ConfigurationFile",
    "ConfigurationVersion",
    "Conversation",
    "DailyUsage",
    "ExecutorProcess",
    "Feedback",
    "FileChange",
    "Grant",
    "Instruction",
    "Interrupt",
    "Memory",
    "Message",
    "Module",
    "ObjectLock",
    "PolicyRule",
    "Profile",
    "PromptCommand",
    "PromptText",
    "QueuedMessage",
    "Report",
    "RowChange",
    "Run",
    "RunEvent",
    "Share",
    "Skill",
    "Step",
    "StopRequest",
    "Suggestion",
    "SummedDay",
    "ToolCall",
    "ToolVersion",
    "UndoStop",
    "UsageLedger",
]
