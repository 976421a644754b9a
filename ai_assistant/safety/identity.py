"""
Whether the person who started a run is still the one who may go on.

A run keeps digests of its session and of the password, never the values.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from ai_assistant.exceptions import Refused
from ai_assistant.models.run import Run
from ai_assistant.safety.audit import request_ip
from ai_assistant.safety.permissions import may_use

SALT = "ai_assistant.session"


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionStamp:
    """What a run remembers of the session that started it."""

    session_digest: str = ""
    password_digest: str = ""
    expires_at: datetime | None = None
    ip: str = ""  # for the audit log, if the site wants it there


class Revoked(Refused):
    """The person may no longer use the assistant: the run ends here."""


def stamp(request: HttpRequest) -> SessionStamp:
    """Return the stamp of the request's session."""
    session = request.session
    return SessionStamp(
        session_digest=session_digest(session.session_key or ""),
        password_digest=password_digest(request.user),
        expires_at=session.get_expiry_date(),
        ip=request_ip(request.META.get("REMOTE_ADDR") or ""),
    )


def session_digest(session_key: str) -> str:
    """Return the digest under which runs remember a session."""
    return salted_hmac(SALT, session_key, algorithm="sha256").hexdigest()


def password_digest(user: Any) -> str:  # noqa: ANN401 - the site's own user model
    """Return the digest of what changes when the password does."""
    own = getattr(user, "get_session_auth_hash", None)
    return salted_hmac(SALT, own(), algorithm="sha256").hexdigest() if own else ""


def check_user(run: Run, user: Any) -> None:  # noqa: ANN401
    """
    Raise Revoked if `user`, loaded now, may not go on with `run`.

    Sign-out is not seen here: it stops the runs of its session at once.
    """
    if user is None or not user.is_active:
        raise Revoked("deactivated", _("Stopped: the account was deactivated."))
    if not may_use(user):
        raise Revoked("permission", _("Stopped: you may no longer use the assistant."))
    if run.password_digest and not constant_time_compare(
        run.password_digest, password_digest(user)
    ):
        raise Revoked("password", _("Stopped: the password was changed."))


def check_may_write(run: Run) -> None:
    """Raise Refused if the session has expired: then nothing is written."""
    if run.session_expires_at and run.session_expires_at < timezone.now():
        raise Refused(
            "session_expired",
            _("Your session has expired. Sign in again to change anything."),
        )
