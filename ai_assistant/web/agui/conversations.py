"""Which conversation a client means by its thread."""

import uuid
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import Conversation


def own_id(thread: str) -> UUID | None:
    """Return the id of ours that a thread is named by, if it is named by one."""
    try:
        found = UUID(thread)
    except ValueError:
        return None
    return found if str(found) == thread else None


def find_conversation(user: Any, thread: str) -> Conversation | None:  # noqa: ANN401 - the site's user model
    """
    Return the conversation of `user` behind a thread; None if there is none yet.

    A thread named by an id like ours is that conversation, for everybody: Refused
    not_found if it is another's. Other names are each user's own.
    """
    if not thread:
        return None  # those that no client has named have no name either
    own = Conversation.objects.own(user.pk)
    known = own_id(thread)
    if known is None:
        return own.filter(thread_id=thread).first()
    found = Conversation.objects.filter(pk=known).first()
    if found is not None and (found.owner_id != user.pk or found.deleted_at):
        raise no_thread(thread)
    return found


def new_id(thread: str) -> UUID:
    """Return the id of the conversation that begins with this thread."""
    return own_id(thread) or uuid.uuid4()


def no_thread(thread: str) -> Refused:
    """Return the refusal of a thread that is not there, or not the caller's."""
    return Refused(
        "not_found", _("There is no thread “%(thread)s”.") % {"thread": thread}
    )
