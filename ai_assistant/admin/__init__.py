"""
Plain lists of what the assistant has stored, for who has the admin's own permission.

Nothing can be added or changed here but budgets, rules and access tokens; conversations
can be deleted.
"""

from ai_assistant.admin.audit import AuditEntryAdmin
from ai_assistant.admin.budget import BudgetAdmin
from ai_assistant.admin.call import ToolCallAdmin
from ai_assistant.admin.change import ChangeSetAdmin
from ai_assistant.admin.conversation import ConversationAdmin
from ai_assistant.admin.feedback import FeedbackAdmin
from ai_assistant.admin.policy import PolicyRuleAdmin
from ai_assistant.admin.run import RunAdmin
from ai_assistant.admin.token import AccessTokenAdmin
from ai_assistant.admin.usage import UsageAdmin

__all__ = [
    "AccessTokenAdmin",
    "AuditEntryAdmin",
    "BudgetAdmin",
    "ChangeSetAdmin",
    "ConversationAdmin",
    "FeedbackAdmin",
    "PolicyRuleAdmin",
    "RunAdmin",
    "ToolCallAdmin",
    "UsageAdmin",
]
