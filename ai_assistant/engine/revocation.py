"""What the revocation of a token means for the runs that it has started."""

from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from ai_assistant.engine.finish import Ending
from ai_assistant.engine.queue import hold_token
from ai_assistant.engine.stop import Stopped, stop
from ai_assistant.models.run import WAITING, Run, RunState
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.tokens import mark_revoked

WORKING = (RunState.QUEUED, RunState.RUNNING, *WAITING[2:])


def revoke(token: AccessToken, *, by: Any = None, ip: str = "") -> bool:  # noqa: ANN401
    """
    Revoke a token for good, and stop at once what works for it.

    `by` is the user who does it, None for an operator. False if it was revoked
    before. A run that waits for a person stays: it goes on for whoever answers, and
    ends if nobody does.
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
    runs = Run.objects.filter(token_id=token_id, state__in=WORKING)
    return [stop(run_id, ending) for run_id in runs.values_list("pk", flat=True)]
