"""Access tokens: how programs sign in."""

import hashlib
import secrets
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables

from ai_assistant import conf
from ai_assistant.exceptions import Refused
from ai_assistant.models import clock
from ai_assistant.models.clock import Now
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.audit import record
from ai_assistant.safety.identity.session import SALT, SessionStamp, password_digest

Scope = AccessToken.Scope
MARK = "aia_"  # so that a leaked one can be recognised: see `redaction.redact`
SECRET_BYTES = 32
PREFIX_CHARS = 12
FALLBACKS = "get_session_auth_fallback_hash"  # not every site's user model has it
MOST_DAYS = 36_500  # where the site sets no bound: a date has to fit
USED_EVERY = timedelta(minutes=1)  # is written down at most so often
REFUSED_EVERY = timedelta(hours=1)


class State(models.TextChoices):
    """Whether a token is valid, and if not, why."""

    GOOD = "good", gettext_lazy("good")
    REVOKED = "revoked", gettext_lazy("revoked")
    EXPIRED = "expired", gettext_lazy("expired")
    DEACTIVATED = "deactivated", gettext_lazy("account deactivated")
    PASSWORD = "password", gettext_lazy("password changed")


def issue(
    user: Any,
    name: str,
    scopes: Collection[str],
    expires_at: datetime | None = None,
) -> tuple[AccessToken, str]:
    """Store a token for `user`; return it with its secret, which is shown only once."""
    token = AccessToken(
        user=user, name=name, scopes=list(scopes), expires_at=expires_at
    )
    return token, store_new(token, by=user)


@sensitive_variables("secret")
def store_new(token: AccessToken, *, by: Any = None, ip: str = "") -> str:
    """
    Store a token that has user, name, scopes and end; return its secret.

    `by` is the user who makes it, None for an operator. Raise Refused wrong_scopes.
    """
    unknown = sorted(set(token.scopes) - set(Scope.values))
    if unknown or not token.scopes:
        raise Refused(
            "wrong_scopes",
            _("The scopes “%(given)s” are not valid. Give one or more of: %(known)s.")
            % {
                "given": ", ".join(map(str, token.scopes)),
                "known": ", ".join(Scope.values),
            },
        )
    secret = MARK + secrets.token_urlsafe(SECRET_BYTES)
    token.scopes = [scope for scope in Scope.values if scope in token.scopes]
    token.digest, token.prefix = digest_of(secret), secret[:PREFIX_CHARS]
    token.password_digest = password_digest(token.user)
    with transaction.atomic():
        token.save(force_insert=True)
        record("token.created", user=by, details=token_audit_facts(token), ip=ip)
    return secret


def end_after(days: int | None) -> datetime | None:
    """
    Return when a token of so many days ends; None if it never does.

    Raise Refused wrong_days if the site does not allow it.
    """
    configured = conf.get("TOKENS", "MAX_DAYS")
    if days is None and configured is None:
        return None
    limit = MOST_DAYS if configured is None else configured
    if days is None:
        raise Refused(
            "wrong_days",
            _("A token must expire on this site. Give its days, at most %(most)s.")
            % {"most": f"{limit:g}"},
        )
    if not 1 <= days <= limit:
        raise Refused(
            "wrong_days",
            _("“%(days)s” is not valid. Give a number of days from 1 to %(most)s.")
            % {"days": days, "most": f"{limit:g}"},
        )
    return clock.now() + timedelta(days=days)


def find_token(secret: str) -> AccessToken | None:
    """Return the token with this secret, valid or not, its user loaded."""
    tokens = AccessToken.objects.select_related("user")
    return tokens.filter(digest=digest_of(secret)).first()


def find_valid_token(secret: str) -> AccessToken | None:
    """Return the valid token with this secret, its user loaded, or None."""
    token = find_token(secret)
    return token if token is not None and state_of(token) == State.GOOD else None


def state_of(token: AccessToken) -> State:
    """Return whether a token, loaded now with its user, can be used, or why not."""
    if token.revoked_at is not None:
        return State.REVOKED
    if token.is_expired:
        return State.EXPIRED
    if not token.user.is_active:
        return State.DEACTIVATED
    return State.GOOD if _has_same_password(token) else State.PASSWORD


def note_use(token: AccessToken) -> None:
    """Record that the token is used now."""
    late = Q(last_used_at=None) | Q(last_used_at__lt=Now() - USED_EVERY)
    AccessToken.objects.filter(late, pk=token.pk).update(last_used_at=Now())


def note_refusal(token: AccessToken, state: State, ip: str = "") -> None:
    """Record that an invalid token was sent, once an hour."""
    late = Q(refused_at=None) | Q(refused_at__lt=Now() - REFUSED_EVERY)
    with transaction.atomic():
        if AccessToken.objects.filter(late, pk=token.pk).update(refused_at=Now()):
            details = {**token_audit_facts(token), "because": str(state.value)}
            record("token.refused", user=token.user, details=details, ip=ip)


def mark_revoked(token: AccessToken, *, by: Any = None, ip: str = "") -> bool:
    """
    Revoke the token. Return False if it was revoked before.

    Its runs continue until their next check: see `engine.lifecycle.revocation`.
    """
    with transaction.atomic():
        valid = AccessToken.objects.filter(pk=token.pk, revoked_at=None)
        token.revoked_at = clock.now()
        if not valid.update(revoked_at=token.revoked_at):
            return False
        record("token.revoked", user=by, details=token_audit_facts(token), ip=ip)
    return True


def stamp_of(token: AccessToken, ip: str = "") -> SessionStamp:
    """Return what a run remembers of the token that started it."""
    return SessionStamp(
        password_digest=token.password_digest,
        expires_at=token.expires_at,
        token_id=token.pk,
        may_answer=Scope.APPROVE in token.scopes,
        ip=ip,
    )


def token_audit_facts(token: AccessToken) -> dict[str, Any]:
    """Return the facts about a token for the audit log."""
    return {
        "token": str(token.pk),
        "name": token.name,
        "prefix": token.prefix,
        "of": token.user.get_username(),
        "scopes": list(token.scopes),
        "expires_at": token.expires_at and token.expires_at.isoformat(),
    }


def _has_same_password(token: AccessToken) -> bool:
    """Return whether the password is still the one the token was created with."""
    digest = password_digest(token.user)
    if constant_time_compare(token.password_digest, digest):
        return True
    # Only the site's key may have been changed since: as sessions, it goes along.
    user: Any = token.user
    fallbacks: Iterable[str] = getattr(user, FALLBACKS, tuple)()
    for key, value in zip(settings.SECRET_KEY_FALLBACKS, fallbacks, strict=False):
        former = salted_hmac(SALT, value, secret=key, algorithm="sha256").hexdigest()
        if constant_time_compare(token.password_digest, former):
            token.password_digest = digest
            token.save(update_fields=["password_digest"])
            return True
    return False


def digest_of(secret: str) -> str:
    """Return what is stored of a secret."""
    # A random secret of 256 bits: a slow hash would protect nothing more.
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
