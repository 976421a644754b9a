"""How many unknown tokens one address may send: guessing is slowed down and told."""

import hashlib
import logging
from datetime import UTC, datetime

from django.core.cache import cache
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import Limited
from ai_assistant.models import clock
from ai_assistant.safety.message_rate import message_rate

logger = logging.getLogger("ai_assistant")


def check_unknown(address: str) -> None:
    """
    Count one more unknown token from `address`. Raise Limited if they are too many.

    Whoever has a token that is known is never held up by it, behind the same proxy
    either. It is counted in Django's cache: one in memory counts for its process.
    """
    if not conf.get("TOKEN_FAILURES"):
        return
    most, window = message_rate("TOKEN_FAILURES")
    window_s = int(window.total_seconds())
    now = clock.now()
    number = int(now.timestamp()) // window_s
    count = _counted(_key(address, number), window_s)
    if count <= most:
        return
    if count == most + 1:
        logger.warning("more than %s unknown access tokens from %s", most, address)
    raise Limited(
        _("This access token is unknown, as were others from this address. Wait."),
        datetime.fromtimestamp((number + 1) * window_s, UTC),
        now=now,
    )


def _key(address: str, number: int) -> str:
    digest = hashlib.sha256(address.encode()).hexdigest()[:32]
    return f"ai_assistant.tokens.{digest}.{number}"


def _counted(key: str, time_s: int) -> int:
    try:
        if cache.add(key, 1, time_s):
            return 1
        return cache.incr(key)
    except ValueError:  # it was let go in between
        return 1
    except Exception:  # a cache that is away holds nobody up
        logger.exception("unknown access tokens cannot be counted")
        return 1
