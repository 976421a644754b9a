"""The tables: the only truth about a conversation."""

from ai_assistant.models.audit import AuditEntry, AuditHead
from ai_assistant.models.call import BackgroundCall, ToolCall, ToolVersion
from ai_assistant.models.change import ChangeSet, FileChange, RowChange
from ai_assistant.models.conversation import (
    Conversation,
    Feedback,
    Message,
    QueuedMessage,
)
from ai_assistant.models.event import RunEvent
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.lock import ExecutorProcess, ObjectLock
from ai_assistant.models.policy import Grant, PolicyRule
from ai_assistant.models.run import ClientRun, Run, Step, StopRequest
from ai_assistant.models.token import AccessToken
from ai_assistant.models.usage import Budget, UsageLedger

__all__ = [
    "AccessToken",
    "AuditEntry",
    "AuditHead",
    "BackgroundCall",
    "Budget",
    "ChangeSet",
    "ClientRun",
    "Conversation",
    "ExecutorProcess",
    "Feedback",
    "FileChange",
    "Grant",
    "Interrupt",
    "Message",
    "ObjectLock",
    "PolicyRule",
    "QueuedMessage",
    "RowChange",
    "Run",
    "RunEvent",
    "Step",
    "StopRequest",
    "ToolCall",
    "ToolVersion",
    "UsageLedger",
]
