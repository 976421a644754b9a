"""Stop or hold the work of a session or token that has ended."""

from functools import partial
from typing import Any
from uuid import UUID

from django.contrib.auth.signals import user_logged_out
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.lifecycle.finish import Ending
from ai_assistant.engine.lifecycle.queue import hold_session, hold_token
from ai_assistant.engine.lifecycle.stop import Stopped, stop, stop_session
from ai_assistant.engine.queries import runs_of_tokens
from ai_assistant.models.run import RunState
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.audit import record, request_ip
from ai_assistant.safety.identity.session import session_digest
from ai_assistant.safety.identity.tokens import mark_revoked


def revoke(token: AccessToken, *, by: Any = None, ip: str = "") -> bool:
    """
    Revoke a token for good, and stop at once what works for it.

    `by` is the user who does it, None for an operator. False if it was revoked
    before. A run that waits for a person stays: it continues for whoever answers, and
    ends if it expires.
    """
    revoked = mark_revoked(token, by=by, ip=ip)
    # Also if it was before: a run may have been on its way then.
    transaction.on_commit(partial(stop_token, token.pk))
    return revoked


def stop_token(token_id: UUID) -> list[Stopped]:
    """Stop what works for a token that was revoked."""
    ending = Ending(
        state=RunState.CANCELLED,
        code="token_revoked",
        text=_("Stopped: the access token was revoked."),
    )
    hold_token(token_id)
    keys = runs_of_tokens([token_id]).values_list("pk", flat=True)
    return [stop(run_id, ending) for run_id in keys]


@receiver(user_logged_out)
def stop_signed_out(
    *,
    request: HttpRequest | None,
    user: Any = None,
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
            ip=request_ip(request),
        )
