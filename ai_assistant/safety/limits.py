"""
Rate limits: by rows, by counts in a cache, and by frames.

A `Rate` is written like "20/m". Tool calls and messages are counted by their rows,
unknown tokens in Django's cache, the frames of sockets in the memory of the process.
"""

import hashlib
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zlib import crc32

from django.conf import settings
from django.core.cache import cache
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant, Limited
from ai_assistant.models import clock
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.run import Run
from ai_assistant.models.usage import UsageLedger
from ai_assistant.types import ToolDefinition, UserKey

logger = logging.getLogger("ai_assistant")

LOCK_SPACE = 0x414941  # of our advisory locks, beside those of the site
RATE = re.compile(r"([1-9]\d{0,6})/([smhd])")
SECONDS: Mapping[str, int] = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `most` in each `window`."""

    most: int
    window: timedelta

    @classmethod
    def parse(cls, text: str, subject: str) -> "Rate":
        """Return the rate. Raise for another form than "20/m", naming `subject`."""
        match = RATE.fullmatch(text)
        if match is None:
            raise ImproperlyConfiguredAssistant(
                f"{subject} {text!r}. Give how many by second, minute, hour or day: "
                "'20/m'."
            )
        return cls(int(match[1]), timedelta(seconds=SECONDS[match[2]]))

    @classmethod
    def configured(cls, name: str) -> "Rate | None":
        """Return the rate `name` of the setting RATES; None if it is empty."""
        text = conf.get("RATES", name)
        return cls.parse(text, f"{conf.typed('RATES', name)} is") if text else None

    def opens_at(self, rows: QuerySet[Any]) -> datetime | None:
        """Return when another of `rows` is allowed; None if now. One query."""
        recent = rows.filter(created_at__gt=Now() - self.window)
        created = recent.order_by("-created_at").values_list("created_at", flat=True)
        # The one that has to leave the window before there is room again.
        last = list(created[self.most - 1 : self.most])
        return last[0] + self.window if last else None


def serialize(name: str) -> None:
    """
    Serialize transactions from this call to their end.

    Requires a transaction. On SQLite a transaction that writes is alone anyway: write
    before you count.
    """
    if connection.vendor != "postgresql":
        return
    key = crc32(f"{tenant()}{name}".encode()) & 0x7FFFFFFF
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_SPACE, key])


def tenant() -> str:
    """Return the tenant of this process, with whom others share a database or a cache."""
    return str(settings.DATABASES[DEFAULT_DB_ALIAS].get("TENANT") or "")


def tool_opens_at(user_id: UserKey, tool: ToolDefinition) -> datetime | None:
    """
    Return when `user_id` may call a tool with a rate again; None if that is now.

    Refused calls do not count. The call in question must not be stored yet.
    """
    rate = Rate.parse(tool.execution.rate, f"Tool {tool.name!r} has the rate")
    calls = ToolCall.objects.filter(run__user_id=user_id, name=tool.name)
    return rate.opens_at(calls.exclude(status=CallStatus.DENIED))


def check_message_rate(user_id: UserKey) -> None:
    """
    Raise Limited if the user, or the site, has started too many runs just now.

    Requires the transaction that starts the next one.
    """
    if rate := Rate.configured("USER"):
        serialize(f"rate:{user_id}")
        if opens_at := rate.opens_at(Run.objects.filter(user_id=user_id)):
            text = _("You have sent many messages in a short time.")
            raise Limited(text, opens_at, now=clock.now())
    if rate := Rate.configured("SITE"):
        serialize("rate")
        if opens_at := rate.opens_at(Run.objects.all()):
            text = _("Many people are using the assistant now.")
            raise Limited(text, opens_at, now=clock.now())


def check_suggestion_rate(user_id: UserKey) -> None:
    """Raise Limited if models were asked for suggestions as often as for answers."""
    calls = UsageLedger.objects.filter(user_id=user_id, run=None)
    rate = Rate.configured("USER")
    if rate and (opens_at := rate.opens_at(calls)):
        text = _("You have sent many messages in a short time.")
        raise Limited(text, opens_at, now=clock.now())


def check_unknown(address: str) -> None:
    """
    Count one more unknown token from `address`. Raise Limited if they are too many.

    Known tokens are never limited by it, not even from the same address. A cache in
    memory counts for its process only.
    """
    rate = Rate.configured("UNKNOWN_TOKENS")
    if rate is None:
        return
    window_s, now = int(rate.window.total_seconds()), clock.now()
    number = int(now.timestamp()) // window_s
    digest = hashlib.sha256(address.encode()).hexdigest()[:32]
    count = _count(f"ai_assistant.tokens.{digest}.{number}", window_s)
    if count <= rate.most:
        return
    if count == rate.most + 1:
        logger.warning("more than %s unknown access tokens from %s", rate.most, address)
    raise Limited(
        _("Too many unknown access tokens were sent from this address. Wait."),
        datetime.fromtimestamp((number + 1) * window_s, UTC),
        now=now,
    )


def _count(key: str, timeout_s: int) -> int:
    try:
        if cache.add(key, 1, timeout_s):
            return 1
        return cache.incr(key)
    except ValueError:  # it expired in between
        return 1
    except Exception:  # a failing cache must not refuse requests
        logger.exception("unknown access tokens cannot be counted")
        return 1


@dataclass(kw_only=True, slots=True, weakref_slot=True)
class TokenBucket:
    """Holds `size` tokens at most; `per_s` come back in each second."""

    size: float
    per_s: float
    left: float = field(init=False)
    at: float = field(default_factory=time.monotonic)  # when `left` was true

    def __post_init__(self) -> None:
        self.left = self.size

    def take(self, tokens: int, now: float) -> bool:
        """Consume tokens at `now` (monotonic); return False if there are too few."""
        self.left = min(self.size, self.left + (now - self.at) * self.per_s)
        self.at = now
        if self.left < tokens:
            return False
        self.left -= tokens
        return True
