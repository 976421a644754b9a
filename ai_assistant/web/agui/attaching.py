"""Attaching to a run again, after a connection was lost: an extension of ours."""

from uuid import UUID

from django.http import HttpRequest
from django.utils.translation import gettext as _

from ai_assistant.engine.eventlog import events_after
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.token import AccessToken
from ai_assistant.render.agui.segment import Names, Segment
from ai_assistant.web.agui.conversations import find_conversation, no_thread, own_id
from ai_assistant.web.caller import Caller, identify

POSITION_CHARS = 100


def attached(request: HttpRequest) -> tuple[Caller, Segment, UUID]:
    """
    Return who asks, the segment, and its conversation. Asks the database.

    The header Last-Event-ID says where the client stands. Raise Refused: not_found,
    bad_input.
    """
    caller = identify(request, AccessToken.Scope.READ)
    thread, run = (request.GET.get(name, "") for name in ("threadId", "runId"))
    conversation = find_conversation(caller.user, thread)
    if conversation is None:
        raise no_thread(thread)
    is_new = request.GET.get("protocolVersion", "1.0") != ""
    may_answer = caller.has_scope(AccessToken.Scope.APPROVE)
    names = Names(thread=thread, run=run, is_new=is_new, may_answer=may_answer)
    segment = _segment(conversation, names)
    if position := request.headers.get("Last-Event-ID", ""):
        _stand_at(segment, position)
    return caller, segment, conversation.pk


def _segment(conversation: Conversation, names: Names) -> Segment:
    known = conversation.client_runs.filter(client_id=names.run).first()
    if known is not None:
        return Segment(known.run_id, names, after=known.after)
    own = own_id(names.run)
    if own is None or not conversation.runs.filter(pk=own).exists():
        raise Refused("not_found", _("There is no run “%(run)s”.") % {"run": names.run})
    return Segment(own, names)


def _stand_at(segment: Segment, position: str) -> None:
    """Let the segment go on where its client stands."""
    told = events_after(segment.run_id, segment.after)
    try:
        segment.stand_at(position[:POSITION_CHARS], told)
    except ValueError as error:
        raise Refused(
            "bad_input", _("“Last-Event-ID” is none that this stream gave.")
        ) from error
