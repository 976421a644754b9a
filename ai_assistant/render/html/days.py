"""Where another day begins in a conversation."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from ai_assistant.render.html.entries import Entry


def mark_days(entries: Iterable[Entry], before: datetime | None) -> None:
    """
    Give each message that begins a day its `day`, in words.

    `before` is when the last message was sent that stands above `entries`. The first
    one of a conversation begins a day unless that is today.
    """
    today = timezone.localdate() if timezone.is_aware(timezone.now()) else date.today()  # noqa: DTZ011
    last = _day(before) if before else today
    for entry in entries:
        if entry["kind"] != "user":
            continue
        day = _day(entry["time"])
        entry["day"] = _word(day, today) if day != last else ""
        last = day


def _day(moment: datetime) -> date:
    aware = timezone.is_aware(moment)  # it is not where the site has USE_TZ off
    return timezone.localdate(moment) if aware else moment.date()


def _word(day: date, today: date) -> str:
    if day == today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    return date_format(day, "DATE_FORMAT")
