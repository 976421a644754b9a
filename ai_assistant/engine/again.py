"""Retry and Continue: a new run that goes on where an ended one stands."""

from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.finish import BUDGET
from ai_assistant.engine.start import Submission
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run, RunState
from ai_assistant.safety.identity import SessionStamp
from ai_assistant.types import UserKey


def is_asked_again(run: Run) -> bool:
    """Tell whether another try at `run` is its question, and not to go on."""
    if run.state == RunState.LIMITED and run.error_code == BUDGET:
        return not run.steps.exists()  # it never came to the model
    return run.state == RunState.FAILED


def again_submission(
    user_id: UserKey, run_id: UUID, key: str, session: SessionStamp
) -> Submission:
    """
    Return what is sent for another try at `run_id`.

    After a failure, and a limit before the first answer, the question is asked
    again; after a stop or another limit the assistant is asked to go on. Raise Refused not_found, or not_ended.
    """
    run = Run.objects.filter(pk=run_id, user_id=user_id).first()
    if run is None:
        raise Refused("not_found", "")
    if not run.is_final:
        raise Refused("not_ended", _("This answer is still being written."))
    text = _("Go on.")
    if is_asked_again(run):
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
        look_only=run.look_only,
        continues=run.pk,
    )
