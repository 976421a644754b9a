"""
Whether a session still is in the site's session store.

Somebody may remove it there without a sign-out: a package that signs out other
devices, `clearsessions`, a query. A run keeps the key of its session encrypted, so
that the store can be asked; a store that cannot tell is not asked.
"""

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends import cache, db, file, signed_cookies
from django.core.cache import caches
from django.core.cache.backends.dummy import DummyCache
from django.core.cache.backends.locmem import LocMemCache
from django.db import Error as DatabaseFailure

from ai_assistant.exceptions import AssistantError
from ai_assistant.safety.sealing import CannotUnseal, decrypted, encrypted

PURPOSE = "session"
TELLING = (db.SessionStore, cache.SessionStore, file.SessionStore)


class SessionsAway(AssistantError):
    """The session store cannot be reached just now."""


def session_store() -> Any:  # noqa: ANN401 - the class of the site's store
    """Return the class of the site's session store."""
    return import_module(settings.SESSION_ENGINE).SessionStore


def kept_key(session: Any) -> str:  # noqa: ANN401 - of the site's store
    """Return the key of `session`, encrypted; empty if its store cannot be asked."""
    key = session.session_key
    if not key or not _can_tell(session):
        return ""
    return encrypted(key.encode(), PURPOSE)


def is_removed(kept: str) -> bool:
    """
    Tell whether the session of a kept key is in the store no more.

    False if no key is kept. Raise SessionsAway if the store cannot be reached.
    """
    if not kept:
        return False
    try:
        key = decrypted(kept, PURPOSE).decode()
    except CannotUnseal:
        return True  # the keys of the site that had signed it are gone
    try:
        return not session_store()().exists(key)
    except DatabaseFailure:
        raise  # of the transaction around it, which knows what to do
    except Exception as error:
        raise SessionsAway(f"The session store failed: {error}") from error


def _can_tell(session: Any) -> bool:  # noqa: ANN401
    """Tell whether every process of the site can ask the store for `session`."""
    if isinstance(session, signed_cookies.SessionStore):
        return False  # all of it is with the browser
    if isinstance(session, cache.SessionStore):
        # Of another process, which may be the one that carries the run out.
        kept_in = caches[settings.SESSION_CACHE_ALIAS]
        return not isinstance(kept_in, LocMemCache | DummyCache)
    # One of somebody else may keep no sessions either: then it has never had it.
    return isinstance(session, TELLING) or bool(session.exists(session.session_key))
