"""A schedule in words."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from project.questionnaires.models import Schedule


def describe(schedule: Schedule) -> str:
    """Return sentences that say when people are asked."""
    sentences = [_when(schedule), _repeats(schedule), _opens(schedule)]
    if not schedule.active:
        sentences.append(_("It is not active."))
    return " ".join(sentence for sentence in sentences if sentence)


def _when(schedule: Schedule) -> str:
    days = schedule.offset_days
    anchor = _anchor(schedule)
    if days == 0:
        return _("Due on the day of %(anchor)s.") % {"anchor": anchor}
    words = {"days": _days(abs(days)), "anchor": anchor}
    if days < 0:
        return _("Due %(days)s before %(anchor)s.") % words
    return _("Due %(days)s after %(anchor)s.") % words


def _anchor(schedule: Schedule) -> str:
    if schedule.anchor == Schedule.Anchor.FIXED_DATE:
        return str(schedule.anchor_date)
    if schedule.anchor == Schedule.Anchor.EVENT:
        return _("the event “%(event)s”") % {"event": schedule.anchor_event}
    return _("the enrolment")


def _repeats(schedule: Schedule) -> str:
    if schedule.repeat_every_days is None:
        return _("Asked once.")
    words = {"days": _days(schedule.repeat_every_days)}
    if schedule.repeat_count is not None:
        words["times"] = ngettext(
            "%(count)d time", "%(count)d times", schedule.repeat_count
        ) % {"count": schedule.repeat_count}
        return _("Asked every %(days)s, %(times)s in all.") % words
    if schedule.repeat_until is not None:
        words["until"] = str(schedule.repeat_until)
        return _("Asked every %(days)s until %(until)s.") % words
    return _("Asked every %(days)s without end.") % words


def _opens(schedule: Schedule) -> str:
    return _(
        "Open from %(before)s before to %(after)s after the beginning of that day, "
        "in the time zone %(zone)s."
    ) % {
        "before": _hours(schedule.window_before_h),
        "after": _hours(schedule.window_after_h),
        "zone": schedule.time_zone,
    }


def _days(count: int) -> str:
    return ngettext("%(count)d day", "%(count)d days", count) % {"count": count}


def _hours(count: int) -> str:
    return ngettext("%(count)d hour", "%(count)d hours", count) % {"count": count}
