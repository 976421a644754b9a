"""Retry and Continue: a new run that goes on where an ended one stands."""

from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.start import Submission
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run, RunState
from ai_assistant.safety.identity import SessionStamp
from ai_assistant.types import UserKey


def again_submission(
    user_id: UserKey, run_id: UUID, key: str, session: SessionStamp
) -> Submission:
    """
    Return what is sent for another try at `run_id`.

    After a failure the question is asked again; after a stop or a limit the
    assistant is asked to go on. Raise Refused not_found, or not_ended.
    """
    run = Run.objects.filter(pk=run_id, user_id=user_id).first()
    if run is None:
        raise Refused("not_found", "")
    if not run.is_final:
        raise Refused("not_ended", _("This answer is still being written."))
    text = _("Go on.")
    if run.state == RunState.FAILED:
        asked = Message.objects.filter(run=run, role=Message.Role.USER).first()
        text = asked.text if asked else text
    return Submission(
        user_id=user_id,
        conversation_id=run.conversation_id,
        key=f"again-{key}"[:64],
        text=text,
        page_path=run.page_path,
        page_title=run.page_title,
        context=run.context,  # what was dropped stays dropped
        stamp=session,
        continues=run.pk,
    )
