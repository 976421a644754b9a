"""What a sign-out means for the runs of its session."""

from typing import Any

from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.finish import Ending
from ai_assistant.engine.queue import hold_session
from ai_assistant.engine.stop import stop_session
from ai_assistant.models.run import RunState
from ai_assistant.safety.audit import record, request_ip
from ai_assistant.safety.identity import session_digest


@receiver(user_logged_out)
def stop_signed_out(
    *,
    request: HttpRequest | None,
    user: Any = None,  # noqa: ANN401 - the site's user model
    **_rest: object,
) -> None:
    """Stop what works for a session that is being signed out."""
    key = getattr(getattr(request, "session", None), "session_key", None)
    if request is None or not key or not conf.enabled():
        return
    ending = Ending(
        state=RunState.CANCELLED,
        code="signed_out",
        text=_("Stopped: you signed out."),
    )
    hold_session(session_digest(key))
    stopped = stop_session(session_digest(key), ending)
    if stopped:
        runs = [str(one.run_id) for one in stopped]
        record(
            "session.signed_out",
            user=user,
            details={"runs": runs},
            ip=request_ip(request.META.get("REMOTE_ADDR") or ""),
        )
