"""The headings of the list of conversations: days, then months."""

from datetime import date, datetime, timedelta

from django.utils.dateformat import format as formatted
from django.utils.formats import get_format
from django.utils.timezone import is_aware, localdate, localtime, now
from django.utils.translation import gettext as _


def period(moment: datetime, today: date) -> str:
    """Return under which heading something of that moment stands."""
    there = localtime(moment) if is_aware(moment) else moment
    day = there.date()
    if day >= today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    if day >= _begin_of_week(today):
        return _("This week")
    return formatted(there, get_format("YEAR_MONTH_FORMAT"))


def here_today() -> date:
    """Return the date of now in the time zone of the page."""
    return localdate() if is_aware(now()) else date.today()  # noqa: DTZ011


def _begin_of_week(today: date) -> date:
    first = int(get_format("FIRST_DAY_OF_WEEK"))  # 0 is Sunday
    return today - timedelta(days=(today.isoweekday() - first) % 7)
