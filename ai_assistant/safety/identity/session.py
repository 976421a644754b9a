"""Sealed session data, and checks that the person who started a run may continue it."""

import base64
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from importlib import import_module
from typing import Any
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends import cache, db, file, signed_cookies
from django.core.cache import caches
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache
from django.db import Error as DatabaseFailure
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from ai_assistant.exceptions import AssistantError, Refused
from ai_assistant.models import clock
from ai_assistant.models.conversation import QueuedMessage
from ai_assistant.models.raw_sql import has_row
from ai_assistant.models.run import Channel, Run, SessionFields
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.audit import request_ip
from ai_assistant.safety.identity.permissions import may_use
from ai_assistant.safety.site_code import value_or

# --- sealed values: encrypted with a key of the site's SECRET_KEY ---


class CannotUnseal(AssistantError):
    """A sealed value cannot be read: SECRET_KEY was changed without a fallback."""


@sensitive_variables("clear")
def encrypted(clear: bytes, purpose: str) -> str:
    """Return `clear` encrypted for `purpose`; no other purpose can open it."""
    return Fernet(site_key(settings.SECRET_KEY, purpose)).encrypt(clear).decode()


@sensitive_variables("secrets", "keys")
def decrypted(token: str, purpose: str) -> bytes:
    """
    Return what was encrypted for `purpose`.

    Raise CannotUnseal if none of the site's secret keys opens it.
    """
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    keys = MultiFernet([Fernet(site_key(secret, purpose)) for secret in secrets])
    try:
        return keys.decrypt(token.encode())
    except InvalidToken as error:
        raise CannotUnseal(
            "A sealed value cannot be read with the site's secret keys. "
            "Add the former SECRET_KEY to SECRET_KEY_FALLBACKS."
        ) from error


@lru_cache(maxsize=16)
def site_key(secret: str | bytes, purpose: str) -> bytes:
    """Return the key, as base64, that a secret key of the site gives for `purpose`."""
    derived = HKDF(
        algorithm=SHA256(),
        length=32,
        salt=None,
        info=b"ai_assistant." + purpose.encode(),
    ).derive(secret.encode() if isinstance(secret, str) else secret)
    return base64.urlsafe_b64encode(derived)


# --- the session, and what a run keeps of it ---


def is_revoked(token_id: UUID) -> bool:
    """
    Return whether the token was revoked or no longer exists.

    An expired token does not count: like an expired session, it stops writes only; the
    run knows its end (`Run.session_expires_at`).
    """
    return not AccessToken.objects.filter(pk=token_id, revoked_at=None).exists()


PURPOSE = "session"
EXISTS = db.SessionStore.exists
TELLING = (db.SessionStore, cache.SessionStore, file.SessionStore)


class SessionStoreUnavailable(AssistantError):
    """The session store cannot be reached just now."""


def session_store() -> Any:
    """Return the class of the site's session store."""
    return import_module(settings.SESSION_ENGINE).SessionStore


def kept_key(session: Any) -> str:
    """Return the key of `session`, encrypted; empty if its store cannot be asked."""
    key = session.session_key
    if not key or not _can_tell(session):
        return ""
    return encrypted(key.encode(), PURPOSE)


def is_removed(sealed_key: str) -> bool:
    """
    Return whether the session of a stored key is no longer in the session store.

    False without a key. Raise SessionStoreUnavailable if the store cannot be reached.
    """
    if not sealed_key:
        return False
    try:
        key = decrypted(sealed_key, PURPOSE).decode()
    except CannotUnseal:
        return True  # the keys of the site that had signed it are gone
    try:
        return not _exists(session_store(), key)
    except DatabaseFailure:
        raise  # the enclosing transaction handles it
    except Exception as error:
        raise SessionStoreUnavailable(f"The session store failed: {error}") from error


def _exists(store: Any, key: str) -> bool:
    if store is db.SessionStore and store.exists is EXISTS:
        # What it does itself, composed once.
        return has_row(store.get_model_class(), key)
    return bool(store().exists(key))


def session_values(stamp: "SessionStamp", names: Collection[str]) -> dict[str, Any]:
    """
    Return what the session of a stamp holds under some names.

    Nothing once the session has ended, or if it cannot be read.
    """
    if not names or not stamp.session_sealed or stamp.has_expired():
        return {}
    try:
        session = session_store()(decrypted(stamp.session_sealed, PURPOSE).decode())
        return {name: session[name] for name in names if name in session}
    except CannotUnseal:
        return {}
    except DatabaseFailure:
        raise  # the enclosing transaction handles it
    except Exception as error:
        raise SessionStoreUnavailable(f"The session store failed: {error}") from error


# Packages by which somebody acts as another user, and the session's key of who it is.
BEHIND = {"hijack": "hijack_history", "impersonate": "_auth_user_id"}


def people_behind(run_id: UUID | None) -> list[str]:
    """Return who has signed in as the user of a run, as long as the session tells."""
    names = [key for app, key in BEHIND.items() if apps.is_installed(app)]
    if not names or run_id is None:
        return []
    nothing: dict[str, Any] = {}
    kept = value_or(nothing, lambda: session_values(stamp_of_run(run_id), names))
    if not kept:
        return []
    keys = [kept.get("_auth_user_id"), *kept.get("hijack_history", [])]
    user_id = Run.objects.filter(pk=run_id).values_list("user_id", flat=True).first()
    others = [key for key in keys if key not in (None, str(user_id))]
    people = get_user_model()._base_manager.in_bulk(others)
    return [f"{person.get_username()} ({pk})" for pk, person in people.items()]


def _can_tell(session: Any) -> bool:
    """Return whether every process of the site can ask the store for `session`."""
    if isinstance(session, signed_cookies.SessionStore):
        return False  # all of it is with the browser
    if isinstance(session, cache.SessionStore):
        # Of another process, which may be the one that carries the run out.
        kept_in = caches[settings.SESSION_CACHE_ALIAS]
        return not isinstance(kept_in, LocMemCache | DummyCache)
    # One of somebody else may keep no sessions either: then it has never had it.
    return isinstance(session, TELLING) or bool(session.exists(session.session_key))


SALT = "ai_assistant.session"


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionStamp:
    """The fields of a run about the session that started it."""

    session_digest: str = ""
    session_sealed: str = field(default="", repr=False)  # see `sessions.kept_key`
    password_digest: str = ""
    lasts_s: float | None = None  # from now on, if it is a session
    expires_at: datetime | None = None  # if it is a token
    token_id: UUID | None = None  # of an AccessToken, instead of a session
    may_answer: bool = True  # what a run waits for: not every token may
    ip: str = ""  # for the audit log, if the site wants it there

    def has_expired(self) -> bool:
        """Return whether the session of a row has ended. Asks the database."""
        return self.expires_at is not None and self.expires_at < clock.now()

    def ends_at(self) -> datetime | None:
        """Return when the session ends, by the database's clock. Asks the database."""
        if self.lasts_s is None:
            return self.expires_at
        return clock.now() + timedelta(seconds=self.lasts_s)

    def fields(self) -> dict[str, Any]:
        """Return the fields of a row that was sent in the session. Asks the database."""
        return {
            "session_digest": self.session_digest,
            "session_sealed": self.session_sealed,
            "password_digest": self.password_digest,
            "session_expires_at": self.ends_at(),
            "token_id": self.token_id,
        }

    @classmethod
    def of(cls, row: SessionFields) -> "SessionStamp":
        """Return the stamp of the session in which a row was sent."""
        return cls(
            session_digest=row.session_digest,
            session_sealed=row.session_sealed,
            password_digest=row.password_digest,
            expires_at=row.session_expires_at,
            token_id=row.token_id,
        )


def stamp_of_run(run_id: UUID | None) -> SessionStamp:
    """Return the stamp of the session that started a run; empty if there is none."""
    run = Run.objects.read(run_id) if run_id else None
    return SessionStamp() if run is None else SessionStamp.of(run)


class AccessRevoked(Refused):
    """The person may no longer use the assistant: the run ends here."""


def session_stamp(request: HttpRequest) -> SessionStamp:
    """Return the stamp of the request's session."""
    session = request.session
    return SessionStamp(
        session_digest=session_digest(session.session_key or ""),
        session_sealed=kept_key(session),
        password_digest=password_digest(request.user),
        lasts_s=float(session.get_expiry_age()),
        ip=request_ip(request),
    )


def session_digest(session_key: str) -> str:
    """Return the digest under which runs remember a session."""
    return salted_hmac(SALT, session_key, algorithm="sha256").hexdigest()


def password_digest(user: Any) -> str:
    """Return a digest that changes with the password."""
    get_hash = getattr(user, "get_session_auth_hash", None)
    if not get_hash:
        return ""
    return salted_hmac(SALT, get_hash(), algorithm="sha256").hexdigest()


def check_user(run: Run | QueuedMessage, user: Any) -> None:
    """
    Raise AccessRevoked if `user`, loaded now, may not continue `run`.

    A sign-out stops the runs of its session at once; this finds sessions that were
    removed without one. The store cannot always be asked. What code of the site has
    started belongs to no session.
    """
    if user is None or not user.is_active:
        raise AccessRevoked("deactivated", _("Stopped: the account was deactivated."))
    if not may_use(user):
        raise AccessRevoked(
            "permission", _("Stopped: you may no longer use the assistant.")
        )
    if run.channel == Channel.CODE:
        return
    if run.password_digest and not constant_time_compare(
        run.password_digest, password_digest(user)
    ):
        raise AccessRevoked("password", _("Stopped: the password was changed."))
    with suppress(SessionStoreUnavailable):
        _check_session(run)
    if run.token_id is not None and is_revoked(run.token_id):
        raise AccessRevoked("token", _("Stopped: the access token was revoked."))


def check_may_write(run: Run | QueuedMessage) -> None:
    """
    Raise Refused if the session has expired, or its store is unavailable.

    Then nothing is written. Raise AccessRevoked if it was removed: the run ends.
    """
    if run.channel == Channel.CODE:
        return  # each of its writes was approved in a session
    if _has_expired(run):
        raise Refused(
            "session_expired",
            _("Your session has expired. Sign in again to change anything.")
            if run.token_id is None
            else _(
                "The access token has expired. It can no longer be used for changes."
            ),
        )
    try:
        _check_session(run)
    except SessionStoreUnavailable as error:
        raise Refused(
            "session_unknown",
            _("The server cannot check right now whether you are still signed in."),
        ) from error


def _check_session(run: Run | QueuedMessage) -> None:
    """Raise AccessRevoked if the session was removed from the store early."""
    if not _has_expired(run) and is_removed(run.session_sealed):
        raise AccessRevoked("session_removed", _("Stopped: your session has ended."))


def _has_expired(run: Run | QueuedMessage) -> bool:
    return bool(run.session_expires_at and run.session_expires_at < clock.now())
