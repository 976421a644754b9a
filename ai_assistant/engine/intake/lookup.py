"""What has to be known before a message is accepted, asked in one statement."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from ai_assistant.models.clock import now_sql
from ai_assistant.models.conversation import Conversation, Message, QueuedMessage
from ai_assistant.models.run import UNFINISHED, Run, RunState
from ai_assistant.types import UserKey

AT_WORK = (RunState.QUEUED, RunState.RUNNING)  # what counts as load
KNOWN = """
SELECT {now},
  (SELECT COUNT(*) FROM {run} WHERE user_id = %s AND state IN ({at_work})),
  EXISTS (SELECT 1 FROM {conversation} WHERE (id = %s OR (owner_id = %s AND thread_id = %s
    AND thread_id <> '')) AND NOT (owner_id = %s AND deleted_at IS NULL
    AND parent_call_id IS NULL)),
  EXISTS (SELECT 1 FROM {message} JOIN {conversation} ON conversation_id = {conversation}.id
    WHERE {message}.key = %s AND owner_id = %s),
  EXISTS (SELECT 1 FROM {queued} WHERE user_id = %s AND key = %s),
  EXISTS (SELECT 1 FROM {queued} WHERE conversation_id = %s AND dropped_at IS NULL),
  EXISTS (SELECT 1 FROM {run} WHERE conversation_id = %s AND state IN ({unfinished})),
  (SELECT agent FROM {run} WHERE conversation_id = %s
    ORDER BY created_at DESC, id DESC LIMIT 1)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """Whether each of the rarer ways is taken, so that its rows have to be read."""

    now: float  # by the database's clock
    load: int  # runs at work for the user
    is_anothers: bool  # the conversation, or it is deleted, or of a call
    is_repeat: bool  # a message of that key was sent before
    has_queue: bool
    has_run: bool  # that is unfinished
    agent: str  # of the newest run


def look_up(
    user_id: UserKey, conversation_id: UUID, key: str = "", thread: str = ""
) -> Known:
    """Return what is known of a message's conversation, its key and its user."""
    user = _prepared(Conversation, "owner", user_id)
    own = _prepared(Conversation, "id", conversation_id)
    arguments = [user, *AT_WORK, own, user, thread, user, key, user, user, key]
    with connection.cursor() as cursor:
        cursor.execute(_statement(), [*arguments, own, own, *UNFINISHED, own])
        now, load, anothers, sent, kept, queued, running, agent = cursor.fetchone()
    return Known(
        now=float(now),
        load=load,
        is_anothers=bool(anothers),
        is_repeat=bool(sent or kept),
        has_queue=bool(queued),
        has_run=bool(running),
        agent=agent or "",
    )


def _statement() -> str:
    return KNOWN.format(
        now=now_sql(),
        run=Run._meta.db_table,
        conversation=Conversation._meta.db_table,
        message=Message._meta.db_table,
        queued=QueuedMessage._meta.db_table,
        at_work=", ".join(["%s"] * len(AT_WORK)),
        unfinished=", ".join(["%s"] * len(UNFINISHED)),
    )


def _prepared(model: Any, name: str, value: object) -> Any:
    """Return a key as the database has it."""
    return model._meta.get_field(name).get_db_prep_value(value, connection)
