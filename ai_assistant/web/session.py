"""Whether a session that was good when a socket opened still is."""

from typing import Any

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.utils.crypto import constant_time_compare

from ai_assistant.safety.sessions import session_store


def is_signed_in(session: Any, user: Any) -> bool:  # noqa: ANN401 - site's classes
    """Tell whether the stored session still belongs to `user`, as he is now."""
    stored = session_store()(session_key=session.session_key).load()
    if str(stored.get(SESSION_KEY)) != str(user.pk) or not user.is_active:
        return False
    if not hasattr(user, "get_session_auth_hash"):
        return True
    good = [user.get_session_auth_hash()]
    # A session from before the site's key was changed: the next request renews it.
    good += getattr(user, "get_session_auth_fallback_hash", tuple)()
    found = stored.get(HASH_SESSION_KEY, "")
    return any(constant_time_compare(found, one) for one in good)
