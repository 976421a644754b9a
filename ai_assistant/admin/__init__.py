"""
Plain lists of what the assistant has stored, for who has the admin's own permission.

Nothing can be added or changed here but configuration, budgets, rules and tokens; conversations
can be deleted.
"""

from ai_assistant.admin.audit import AuditEntryAdmin
from ai_assistant.admin.changes import ChangeSetAdmin
from ai_assistant.admin.configuration import (
    AgentAdmin,
    InstructionAdmin,
    PromptCommandAdmin,
    SkillAdmin,
    SuggestionAdmin,
)
from ai_assistant.admin.conversations import ConversationAdmin, ToolCallAdmin
from ai_assistant.admin.feedback import FeedbackAdmin
from ai_assistant.admin.memory import MemoryAdmin
from ai_assistant.admin.modules.page import ModuleAdmin
from ai_assistant.admin.policy import PolicyRuleAdmin
from ai_assistant.admin.profiles.page import ProfileAdmin
from ai_assistant.admin.reports import ReportAdmin
from ai_assistant.admin.rows.transfer import ConfigurationFileAdmin
from ai_assistant.admin.runs import RunAdmin
from ai_assistant.admin.tokens import AccessTokenAdmin
from ai_assistant.admin.usage import BudgetAdmin, UsageAdmin

__all__ = [
    "AccessTokenAdmin",
    "AgentAdmin",
    "AuditEntryAdmin",
    "BudgetAdmin",
    "ChangeSetAdmin",
    "ConfigurationFileAdmin",
    "ConversationAdmin",
    "FeedbackAdmin",
    "InstructionAdmin",
    "MemoryAdmin",
    "ModuleAdmin",
    "PolicyRuleAdmin",
    "ProfileAdmin",
    "PromptCommandAdmin",
    "ReportAdmin",
    "RunAdmin",
    "SkillAdmin",
    "SuggestionAdmin",
    "ToolCallAdmin",
    "UsageAdmin",
]
