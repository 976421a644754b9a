"""What a tool is told that a person on a page of the site has asked for."""

from typing import Any
from uuid import uuid4

from django.test import Client, RequestFactory
from django.utils.translation import override

from ai_assistant import RunContext
from ai_assistant.context.page import page_info
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.intake.values import SentPage, Submission
from ai_assistant.safety.identity.session import session_stamp


def context_on(
    page: str, client: Client, user: Any, language: str = "en"
) -> RunContext:
    """Return the context of a run that this browser has started on a page."""
    request = RequestFactory().get(page)
    request.session, request.user = client.session, user
    submission = Submission(
        user_id=user.pk,
        conversation_id=uuid4(),
        key="one",
        text="Do it.",
        page=SentPage(path=page),
        stamp=session_stamp(request),
    )
    with override(language):
        run = accept(submission)
    return RunContext(
        user=user,
        run_id=run.run_id,
        conversation_id=run.conversation_id,
        page=page_info(page),
    )
