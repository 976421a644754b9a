"""Show another branch of a conversation."""

from uuid import UUID

from django.db.models import F
from django.utils.translation import gettext as _

from ai_assistant.engine.branches import tree_of
from ai_assistant.engine.db import unit
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import UNFINISHED
from ai_assistant.types import UserKey


@unit
def show_branch(user_id: UserKey, run_id: UUID) -> UUID:
    """
    Show the newest branch through `run_id`; return the id of the conversation.

    Raise Refused: not_found for another user's, busy while a run is unfinished.
    """
    own = Conversation.objects.filter(owner_id=user_id, runs=run_id)
    found = own.values_list("pk", flat=True).first()
    if found is None:
        raise Refused("not_found", "")
    named = Conversation.objects.filter(pk=found)
    # A write first: it takes the lock, and a message that comes now stands in line.
    named.update(title=F("title"))
    conversation = named.get()
    if conversation.runs.filter(state__in=UNFINISHED).exists():
        raise Refused(
            "busy",
            _("An answer is under way. Wait for it or stop it, then change versions."),
        )
    named.update(shown_run=tree_of(conversation).end_below(run_id))
    return conversation.pk
