"""Access tokens: how programs sign in."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from ai_assistant.models.token import AccessToken
from ai_assistant.safety.identity import SessionStamp, password_digest
from ai_assistant.safety.permissions import fresh_user

MARK = "aia_"  # so that a leaked one can be recognised
SECRET_BYTES = 32
PREFIX_CHARS = 12
USED_EVERY = timedelta(minutes=1)  # is written down at most so often


def issue(
    user: Any,  # noqa: ANN401 - the site's own user model
    name: str,
    scopes: Collection[str],
    expires_at: datetime | None = None,
) -> tuple[AccessToken, str]:
    """Store a token for `user`; return it with its secret, which is told just once."""
    secret = MARK + secrets.token_urlsafe(SECRET_BYTES)
    token = AccessToken.objects.create(
        user=user,
        name=name,
        digest=_digest(secret),
        prefix=secret[:PREFIX_CHARS],
        scopes=sorted(scopes),
        password_digest=password_digest(user),
        expires_at=expires_at,
    )
    return token, secret


def find(secret: str) -> AccessToken | None:
    """Return the good token with this secret, its user loaded; None if there is none."""
    token = (
        AccessToken.objects.select_related("user")
        .filter(digest=_digest(secret))
        .first()
    )
    if token is None or not token.is_good or not token.user.is_active:
        return None
    own = password_digest(fresh_user(token.user_id))
    return token if constant_time_compare(token.password_digest, own) else None


def note_use(token: AccessToken) -> None:
    """Write down that the token is used now."""
    now = timezone.now()
    late = Q(last_used_at=None) | Q(last_used_at__lt=now - USED_EVERY)
    AccessToken.objects.filter(late, pk=token.pk).update(last_used_at=now)


def stamp_of(token: AccessToken, ip: str = "") -> SessionStamp:
    """Return what a run remembers of the token that started it."""
    return SessionStamp(password_digest=token.password_digest, token_id=token.pk, ip=ip)


def _digest(secret: str) -> str:
    # A random secret of 256 bits: a slow hash would protect nothing more.
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
