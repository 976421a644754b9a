"""Who may see the assistant, use it, and call a tool. Asked again each time."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, Group
from django.db import connections

from ai_assistant import conf
from ai_assistant.models.raw_sql import is_plain, row_by_key
from ai_assistant.types import ToolDefinition, UserKey

VIEW = "ai_assistant.view_assistant"
USE = "ai_assistant.use_assistant"
SHARE = "ai_assistant.share_conversation"
READ_SHARED = "ai_assistant.view_shared_conversations"

VIEW_PROMPTS = "ai_assistant.view_prompts"

GROUPS = """
SELECT {groups}.{key}, {groups}.name FROM {groups}
JOIN {through} ON {groups}.{key} = {through}.{group} WHERE {through}.{user} = %s
"""

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


def may_view_prompts(user: Any) -> bool:
    """Return whether `user` may see what the model is told for others."""
    return may_view(user) and user.has_perm(VIEW_PROMPTS)


def may_call(user: Any, tool: ToolDefinition) -> bool:
    """Return whether `user` may call `tool` at all."""
    return not tool.permission or user.has_perm(tool.permission)


def fresh_user(user_id: UserKey) -> Any:
    """Return the user as the database has it now, or None if there is none."""
    return row_by_key(get_user_model(), user_id)


def groups_of(user: Any) -> Mapping[Any, str]:
    """
    Return the names of the user's groups by their keys.

    Of a user object the database is asked once, as Django does for permissions: an
    object is loaded again for each step and each call.
    """
    groups = getattr(user, "groups", None)
    if groups is None or user.pk is None:
        return {}
    known: Mapping[Any, str] | None = getattr(user, "_assistant_groups", None)
    if known is None:
        known = user._assistant_groups = dict(_rows_of(groups, user))  # noqa: SLF001
    return known


def _rows_of(groups: Any, user: Any) -> Any:
    using = connections[groups.db]
    sql = _sql_of_groups(user.__class__, groups.db)
    if sql is None:
        return groups.values_list("pk", "name")
    with using.cursor() as cursor:
        key = user._meta.pk.get_db_prep_value(user.pk, using)
        cursor.execute(sql, [key])
        return cursor.fetchall()


@lru_cache
def _sql_of_groups(kind: Any, alias: str) -> str | None:
    """Return the statement for the groups of Django itself; None for other ones."""
    field = kind._meta.get_field("groups")
    through = getattr(field, "remote_field", None) and field.remote_field.through
    is_of_django = field.related_model is Group and is_plain(Group)
    if not (is_of_django and through and through._meta.auto_created):
        return None
    quoted = connections[alias].ops.quote_name
    names = {
        "groups": quoted(Group._meta.db_table),
        "key": quoted(str(Group._meta.pk.column)),
        "through": quoted(through._meta.db_table),
        "group": quoted(field.m2m_reverse_name()),
        "user": quoted(field.m2m_column_name()),
    }
    return GROUPS.format(**names)


def _is_admitted(user: Any) -> bool:
    if not user.is_authenticated or not user.is_active:
        return False
    return bool(getattr(user, "is_staff", False)) or not conf.get("STAFF_ONLY")
