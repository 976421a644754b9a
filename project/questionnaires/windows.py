"""When a schedule lets people in. Pure functions of the schedule and its anchor."""

import datetime
import zoneinfo
from collections.abc import Iterator
from dataclasses import dataclass

from project.questionnaires.models import Schedule

MOST = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """One time span in which a questionnaire can be answered."""

    due: datetime.datetime
    opens: datetime.datetime
    closes: datetime.datetime


def access_windows(
    schedule: Schedule, anchor: datetime.date, most: int = MOST
) -> list[Window]:
    """
    Return the first windows of a schedule whose anchor is that day.

    A window is due at the beginning of its day in the time zone of the schedule;
    the hours before and after are elapsed hours, also when clocks change.
    """
    zone = zoneinfo.ZoneInfo(schedule.time_zone)
    found: list[Window] = []
    for day in _days(schedule, anchor):
        if len(found) == most:
            break
        found.append(_window(schedule, day, zone))
    return found


def count_windows(schedule: Schedule, anchor: datetime.date) -> int | None:
    """Return how many windows there are in all, None if they never end."""
    every = schedule.repeat_every_days
    if every is None:
        return 1
    if schedule.repeat_count is not None:
        return schedule.repeat_count
    if schedule.repeat_until is None:
        return None
    try:
        first = anchor + datetime.timedelta(days=schedule.offset_days)
    except OverflowError:
        return 0
    return max(0, (schedule.repeat_until - first).days // every + 1)


def overlap(schedule: Schedule) -> bool:
    """Tell whether a window is still open when the next one opens."""
    hours = schedule.window_before_h + schedule.window_after_h
    every = schedule.repeat_every_days
    return every is not None and hours > every * 24


def _days(schedule: Schedule, anchor: datetime.date) -> Iterator[datetime.date]:
    total = count_windows(schedule, anchor)
    number = 0
    while total is None or number < total:
        days = schedule.offset_days + number * (schedule.repeat_every_days or 0)
        try:
            yield anchor + datetime.timedelta(days=days)
        except OverflowError:
            return  # beyond the calendar
        number += 1


def _window(schedule: Schedule, day: datetime.date, zone: zoneinfo.ZoneInfo) -> Window:
    due = datetime.datetime.combine(day, datetime.time(), tzinfo=zone)
    exact = due.astimezone(datetime.UTC)
    opens = exact - datetime.timedelta(hours=schedule.window_before_h)
    closes = exact + datetime.timedelta(hours=schedule.window_after_h)
    return Window(due=due, opens=opens.astimezone(zone), closes=closes.astimezone(zone))
