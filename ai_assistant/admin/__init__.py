"""
Plain lists of conversations and runs, for who has the admin's own permission.

Nothing can be added or changed here; conversations can be deleted.
"""

from ai_assistant.admin.conversation import ConversationAdmin
from ai_assistant.admin.run import RunAdmin

__all__ = ["ConversationAdmin", "RunAdmin"]
