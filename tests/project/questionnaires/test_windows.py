import datetime

import pytest

from project.questionnaires.models import Schedule
from project.questionnaires.windows import access_windows, count_windows, overlap
from project.questionnaires.wording import describe

ANCHOR = datetime.date(2026, 3, 1)


def days(schedule, **more):
    return [str(one.due.date()) for one in access_windows(schedule, ANCHOR, **more)]


class TestAccessWindows:
    def test_schedule_without_repeats_has_one_window(self):
        schedule = Schedule(offset_days=2, window_before_h=6, window_after_h=30)

        [window] = access_windows(schedule, ANCHOR)

        assert window.opens.isoformat() == "2026-03-02T18:00:00+00:00"
        assert window.closes.isoformat() == "2026-03-04T06:00:00+00:00"

    def test_counted(self):
        schedule = Schedule(repeat_every_days=7, repeat_count=3)

        assert days(schedule) == ["2026-03-01", "2026-03-08", "2026-03-15"]

    def test_access_windows_until_a_day(self):
        until = datetime.date(2026, 3, 15)
        schedule = Schedule(repeat_every_days=7, repeat_until=until)

        assert days(schedule) == ["2026-03-01", "2026-03-08", "2026-03-15"]
        assert count_windows(schedule, ANCHOR) == 3

    def test_access_windows_until_before_the_first(self):
        until = datetime.date(2026, 2, 1)
        schedule = Schedule(repeat_every_days=7, repeat_until=until)

        assert days(schedule) == []

    def test_access_windows_without_end_is_cut(self):
        schedule = Schedule(repeat_every_days=1)

        assert len(days(schedule)) == 12
        assert len(days(schedule, most=40)) == 40
        assert count_windows(schedule, ANCHOR) is None

    def test_hours_are_elapsed_when_clocks_change(self):
        schedule = Schedule(
            offset_days=28, window_after_h=24, time_zone="Europe/Berlin"
        )

        [window] = access_windows(schedule, ANCHOR)

        assert window.opens.isoformat() == "2026-03-29T00:00:00+01:00"
        assert window.closes.isoformat() == "2026-03-30T01:00:00+02:00"

    @pytest.mark.parametrize("offset", [10**9, -(10**9), 2_900_000])
    def test_access_windows_ends_with_the_calendar(self, offset):
        schedule = Schedule(offset_days=offset, repeat_every_days=365)

        assert len(days(schedule)) <= 12

    def test_access_windows_depends_on_nothing_else(self):
        schedule = Schedule(repeat_every_days=7, repeat_count=3)

        assert access_windows(schedule, ANCHOR) == access_windows(schedule, ANCHOR)


class TestOverlap:
    @pytest.mark.parametrize(("after", "expected"), [(168, False), (169, True)])
    def test_overlap_by_the_hour(self, after, expected):
        assert overlap(Schedule(repeat_every_days=7, window_after_h=after)) is expected

    def test_overlap_never_alone(self):
        assert not overlap(Schedule(window_after_h=10_000))


class TestDescribe:
    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({}, "Due on the day of the enrolment. Asked once."),
            ({"offset_days": -1}, "Due 1 day before the enrolment."),
            (
                {"offset_days": 14, "anchor": "event", "anchor_event": "discharge"},
                "Due 14 days after the event “discharge”.",
            ),
            (
                {"anchor": "fixed_date", "anchor_date": ANCHOR},
                "Due on the day of 2026-03-01.",
            ),
            (
                {"repeat_every_days": 7, "repeat_count": 1},
                "Asked every 7 days, 1 time in all.",
            ),
            (
                {"repeat_every_days": 1, "repeat_until": ANCHOR},
                "Asked every 1 day until 2026-03-01.",
            ),
            ({"repeat_every_days": 2}, "Asked every 2 days without end."),
            ({"time_zone": "Europe/Berlin"}, "in the time zone Europe/Berlin."),
            ({"active": False}, "It is not active."),
        ],
    )
    def test_describe_in_words(self, fields, said):
        assert said in describe(Schedule(**fields))
