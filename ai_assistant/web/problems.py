"""What a program is told when it is refused: RFC 9457, with a code that stays."""

from http import HTTPStatus
from math import ceil
from typing import Any

from django.http import JsonResponse
from django.utils import timezone

from ai_assistant.exceptions import Limited, Refused

CONTENT_TYPE = "application/problem+json"
STATUS = {
    "signed_out": 401,
    "csrf": 403,
    "permission": 403,
    "scope": 403,
    "not_found": 404,
    "method": 405,
    "not_acceptable": 406,
    "already_answered": 409,
    "busy": 409,
    "expired": 409,
    "interrupts_open": 409,
    "not_ended": 409,
    "nothing_new": 409,
    "run_id_used": 409,
    "stale": 409,
    "too_large": 413,
    "media_type": 415,
    "throttled": 429,
    "too_many_runs": 429,
}
BAD_REQUEST, TOO_MANY = 400, 429


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


def problem_response(refused: Refused) -> JsonResponse:
    """Return the answer to what was refused."""
    status = status_of(refused)
    body = problem(status, refused.code, str(refused))
    response = JsonResponse(body, status=status, content_type=CONTENT_TYPE)
    if status == STATUS["signed_out"]:
        response["WWW-Authenticate"] = 'Bearer realm="assistant"'
    if wait_s := retry_after_s(refused):
        response["Retry-After"] = str(wait_s)
    return response


def retry_after_s(refused: Refused) -> int:
    """Return the seconds after which it is worth while to try again; 0: unknown."""
    opens_at = refused.opens_at if isinstance(refused, Limited) else None
    if opens_at is None:
        return 0
    return max(1, ceil((opens_at - timezone.now()).total_seconds()))
