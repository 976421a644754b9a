"""How often one may do a thing: call a tool, send a message, try a token."""

import hashlib
import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from zlib import crc32

from django.core.cache import cache
from django.db import connection
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, Limited
from ai_assistant.models import clock
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.run import Run
from ai_assistant.types import ToolDefinition, UserKey

SPACE = 0x414941  # of our locks, beside those of the site


def in_single_file(name: str) -> None:
    """
    Wait until no other transaction is between this line and its end.

    Call it in a transaction. On SQLite a transaction that writes is alone anyway:
    write before you count.
    """
    if connection.vendor != "postgresql":
        return
    key = crc32(name.encode()) & 0x7FFFFFFF
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [SPACE, key])


RATE = re.compile(r"([1-9]\d{0,6})/([smhd])")
SECONDS: Mapping[str, int] = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parsed_rate(tool: ToolDefinition) -> tuple[int, timedelta]:
    """Return how many calls in what time. Raise if the rate is not like "10/m"."""
    found = RATE.fullmatch(tool.execution.rate)
    if found is None:
        raise ImproperlyConfiguredAssistant(
            f"Tool {tool.name!r} has the rate {tool.execution.rate!r}. Give calls by second, "
            "minute, hour or day: '10/m'."
        )
    return int(found[1]), timedelta(seconds=SECONDS[found[2]])


def rate_limit(user_id: UserKey, tool: ToolDefinition) -> datetime | None:
    """
    Return when `user_id` may call the tool again; None if that is now.

    What was refused does not count. Asks the database once, and only for a tool
    with a rate. The call in question must not be stored yet.
    """
    if not tool.execution.rate:
        return None
    most, window = parsed_rate(tool)
    calls = ToolCall.objects.filter(
        run__user_id=user_id, name=tool.name, created_at__gt=Now() - window
    ).exclude(status=CallStatus.DENIED)
    # The one that has to leave the window before there is room again.
    oldest = calls.order_by("-created_at").values_list("created_at", flat=True)
    counted = list(oldest[most - 1 : most])
    return counted[0] + window if counted else None


def check_message_rate(user_id: UserKey) -> None:
    """
    Raise Limited if the user, or the site, has begun too many runs just now.

    Call it in the transaction that begins the next one.
    """
    if conf.get("RATES", "USER"):
        in_single_file(f"rate:{user_id}")
        own = Run.objects.filter(user_id=user_id)
        _check("USER", own, _("You have sent many messages in a short time."))
    if conf.get("RATES", "SITE"):
        in_single_file("rate")
        everyone = Run.objects.all()
        _check("SITE", everyone, _("Many people are using the assistant now."))


def message_rate(name: str) -> tuple[int, timedelta]:
    """Return how many in what time. Raise if the rate is not like "20/m"."""
    rate = conf.get("RATES", name)
    found = RATE.fullmatch(rate)
    if found is None:
        raise ImproperlyConfiguredAssistant(
            f"{conf.typed('RATES', name)} is {rate!r}. Give how many by second, "
            "minute, hour or day: '20/m'."
        )
    return int(found[1]), timedelta(seconds=SECONDS[found[2]])


def _check(name: str, runs: QuerySet[Run], sentence: str) -> None:
    most, time = message_rate(name)
    recent = runs.filter(created_at__gt=Now() - time)
    # The one that has to leave the time before there is room again.
    moments = recent.order_by("-created_at").values_list("created_at", flat=True)
    counted = list(moments[most - 1 : most])
    if counted:
        raise Limited(sentence, counted[0] + time, now=clock.now())


logger = logging.getLogger("ai_assistant")


def check_unknown(address: str) -> None:
    """
    Count one more unknown token from `address`. Raise Limited if they are too many.

    Whoever has a token that is known is never held up by it, behind the same proxy
    either. It is counted in Django's cache: one in memory counts for its process.
    """
    if not conf.get("RATES", "UNKNOWN_TOKENS"):
        return
    most, window = message_rate("UNKNOWN_TOKENS")
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
