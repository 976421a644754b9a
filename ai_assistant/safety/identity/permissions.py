"""Who may see the assistant, use it, and call a tool. Asked again each time."""

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from ai_assistant import conf
from ai_assistant.types import ToolDefinition, UserKey

VIEW = "ai_assistant.view_assistant"
USE = "ai_assistant.use_assistant"
SHARE = "ai_assistant.share_conversation"
READ_SHARED = "ai_assistant.view_shared_conversations"

User = AbstractBaseUser | AnonymousUser


def may_view(user: Any) -> bool:
    """Return whether `user` may see the launcher and their own history."""
    return _is_admitted(user) and user.has_perm(VIEW)


def may_use(user: Any) -> bool:
    """Return whether `user` may start runs and answer them."""
    return may_view(user) and user.has_perm(USE)


def may_share(user: Any) -> bool:
    """Return whether `user` may let colleagues read a conversation of theirs."""
    return may_use(user) and user.has_perm(SHARE)


def may_read_shared(user: Any) -> bool:
    """Return whether `user` may read what others have shared; staff only, always."""
    is_staff = bool(getattr(user, "is_staff", False))
    return is_staff and may_use(user) and user.has_perm(READ_SHARED)


def may_call(user: Any, tool: ToolDefinition) -> bool:
    """Return whether `user` may call `tool` at all."""
    return not tool.permission or user.has_perm(tool.permission)


def fresh_user(user_id: UserKey) -> Any:
    """Return the user as the database has it now, or None if there is none."""
    return get_user_model()._default_manager.filter(pk=user_id).first()


def _is_admitted(user: Any) -> bool:
    if not user.is_authenticated or not user.is_active:
        return False
    return bool(getattr(user, "is_staff", False)) or not conf.get("STAFF_ONLY")
