"""Whether the token of a run is still good."""

from uuid import UUID

from ai_assistant.models.token import AccessToken


def is_good(token_id: UUID) -> bool:
    """Tell whether the token is there, neither revoked nor expired."""
    token = AccessToken.objects.filter(pk=token_id).first()
    return token is not None and token.is_good
