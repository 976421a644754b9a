"""The tables: the only truth about a conversation."""

from ai_assistant.models.audit import AuditEntry, AuditHead
from ai_assistant.models.call import ToolCall
from ai_assistant.models.change import ChangeSet, FileChange, RowChange
from ai_assistant.models.client_run import ClientRun
from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.models.event import RunEvent
from ai_assistant.models.feedback import Feedback
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.lock import ObjectLock
from ai_assistant.models.policy import Grant, PolicyRule
from ai_assistant.models.process import ExecutorProcess
from ai_assistant.models.queued import QueuedMessage
from ai_assistant.models.run import Run
from ai_assistant.models.step import Step
from ai_assistant.models.stop import StopRequest
from ai_assistant.models.token import AccessToken
from ai_assistant.models.tool_version import ToolVersion
from ai_assistant.models.usage import Budget, UsageLedger

__all__ = [
    "AccessToken",
    "AuditEntry",
    "AuditHead",
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
