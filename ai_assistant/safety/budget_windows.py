"""The time of a budget: when its window began, and when the next one opens."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from ai_assistant.models.usage import Budget


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """From `since` up to `opens_at`, which is the begin of the next; None: always."""

    since: datetime | None = None
    opens_at: datetime | None = None


def window(kind: str, now: datetime) -> Window:
    """
    Return the minute, day or month of `now`; that of one answer has no ends.

    Days and months are those of the site's TIME_ZONE.
    """
    local = now.astimezone(timezone.get_default_timezone())
    minute = local.replace(second=0, microsecond=0)
    midnight = minute.replace(hour=0, minute=0, fold=0)
    match kind:
        case Budget.Window.MINUTE:
            # In absolute time: the clock may be put back in that minute.
            since = now.replace(second=0, microsecond=0)
            return Window(since=since, opens_at=since + timedelta(minutes=1))
        case Budget.Window.DAY:
            return Window(since=midnight, opens_at=midnight + timedelta(days=1))
        case Budget.Window.MONTH:
            first = midnight.replace(day=1)
            later = first + timedelta(days=32)
            return Window(since=first, opens_at=later.replace(day=1))
        case _:
            return Window()
