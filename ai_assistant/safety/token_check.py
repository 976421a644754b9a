"""Whether the token of a run still stands."""

from uuid import UUID

from ai_assistant.models.token import AccessToken


def is_revoked(token_id: UUID) -> bool:
    """
    Tell whether the token was revoked, or is there no more.

    One that has only expired is not: as a session that expires, it stops nothing but
    writes; the run knows its end (`Run.session_expires_at`).
    """
    return not AccessToken.objects.filter(pk=token_id, revoked_at=None).exists()
