"""Problem responses to programs (RFC 9457), with a stable code."""

from http import HTTPStatus
from typing import Any

from django.http import JsonResponse
from django.utils.translation import gettext as _

from ai_assistant.exceptions import Limited, Refused

CONTENT_TYPE = "application/problem+json"
CHALLENGE = 'Bearer realm="assistant"'
STATUS = {
    "signed_out": 401,
    "csrf": 403,
    "permission": 403,
    "scope": 403,
    "deactivated": 403,
    "password": 403,
    "session_expired": 403,
    "session_removed": 403,
    "session_unknown": 403,
    "token": 403,
    "origin": 403,
    "policy": 403,
    "not_found": 404,
    "method": 405,
    "not_acceptable": 406,
    "already_answered": 409,
    "ended": 409,
    "busy": 409,
    "expired": 409,
    "interrupts_open": 409,
    "key_reused": 409,
    "locked": 409,
    "moved": 409,
    "newer": 409,
    "not_ended": 409,
    "incomplete": 409,
    "nothing": 409,
    "nothing_new": 409,
    "queue_full": 409,
    "run_id_used": 409,
    "sent": 409,
    "stale": 409,
    "undo_failed": 409,
    "too_large": 413,
    "media_type": 415,
    "throttled": 429,
    "too_many_runs": 429,
    "needs_agui": 501,
    "needs_asgi": 501,
    "needs_schema": 501,
    "no_executor": 503,
    "disk_full": 507,
}
BAD_REQUEST, TOO_MANY = 400, 429


class Moved(Refused):
    """Something has changed since a plan was read; `plan` is the new one, as JSON."""

    def __init__(self, plan: Any) -> None:
        super().__init__(
            "moved", _("Something has changed since the plan was read. Check it again.")
        )
        self.plan = plan


def status_of(refused: Refused) -> int:
    """Return the HTTP status of a refusal."""
    if isinstance(refused, Limited):
        return TOO_MANY
    return STATUS.get(refused.code, BAD_REQUEST)


def problem(status: int, code: str, detail: str) -> dict[str, Any]:
    """Return the body: `code` is for programs, `detail` a sentence for people."""
    title = HTTPStatus(status).phrase
    return {
        "type": "about:blank",
        "title": title,
        "status": status,
        "code": code,
        "detail": detail or title,
    }


def problem_of(refused: Refused, status: int) -> dict[str, Any]:
    """Return the body of a refusal, with all that it tells."""
    body = problem(status, refused.code, str(refused))
    if isinstance(refused, Moved):
        body["plan"] = refused.plan
    return body


def problem_response(refused: Refused) -> JsonResponse:
    """Return the answer to what was refused."""
    status = status_of(refused)
    body = problem_of(refused, status)
    headers = problem_headers(refused)
    return JsonResponse(
        body,
        status=status,
        headers=headers,
        content_type=CONTENT_TYPE,
        json_dumps_params={"ensure_ascii": False},  # some clients show it as it is
    )


def problem_headers(refused: Refused) -> dict[str, str]:
    """Return what goes with it: how to sign in, or when to try again."""
    headers = {}
    if status_of(refused) == STATUS["signed_out"]:
        headers["WWW-Authenticate"] = CHALLENGE
    if isinstance(refused, Limited) and refused.wait_s:
        headers["Retry-After"] = str(refused.wait_s)
    return headers
