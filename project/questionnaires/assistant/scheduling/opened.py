"""The schedule that the user has open, and the rows that calls name."""

from typing import Any

from ai_assistant import ModelRetry, RunContext, ToolFailed
from project.questionnaires.models import Questionnaire, Schedule, Section


def opened(context: RunContext) -> Schedule | None:
    """Return the schedule of the page, or None."""
    page = context.page
    is_schedule = (page.app_label, page.model_name) == ("questionnaires", "schedule")
    if not is_schedule or not page.object_id.isdecimal():
        return None
    schedules = Schedule.objects.select_related("questionnaire")
    return schedules.filter(pk=page.object_id).first()


def schedule_by_id(schedule_id: int) -> Schedule:
    """Return the schedule with its questionnaire, or raise ModelRetry."""
    schedules = Schedule.objects.select_related("questionnaire")
    found = schedules.filter(pk=schedule_id).first()
    if found is None:
        raise ModelRetry(
            f"Schedule {schedule_id!r} does not exist. Call get_schedules for the ids."
        )
    return found


def schedule_to_change(schedule_id: int) -> Schedule:
    """Return the schedule. Raise ToolFailed if its questionnaire is archived."""
    schedule = schedule_by_id(schedule_id)
    refuse_archived(schedule.questionnaire)
    return schedule


def refuse_archived(questionnaire: Questionnaire) -> None:
    """Raise ToolFailed if nobody is asked the questionnaire any more."""
    if questionnaire.status == Questionnaire.Status.ARCHIVED:
        raise ToolFailed(
            f"Questionnaire {questionnaire.title!r} is archived, so its schedules "
            "cannot be changed.",
            suggestion="Say that archived questionnaires have fixed schedules.",
        )


def sections_of(
    section_ids: list[int], questionnaire: Questionnaire | None
) -> list[Section]:
    """
    Return the sections in this order, all of one questionnaire.

    Raise ModelRetry if one is missing, named twice, or of another questionnaire.
    """
    found = Section.objects.select_related("questionnaire").in_bulk(section_ids)
    if wrong := [one for one in section_ids if one not in found]:
        raise ModelRetry(f"Section {wrong[0]!r} does not exist. {_way_on()}")
    if len(found) != len(section_ids):
        raise ModelRetry(f"sections {section_ids!r} name one twice. {_way_on()}")
    sections = [found[section_id] for section_id in section_ids]
    roots: set[Any] = {section.questionnaire_id for section in sections}
    if questionnaire is not None:
        roots.add(questionnaire.pk)
    if len(roots) > 1:
        raise ModelRetry(
            f"sections {section_ids!r} are not all of one questionnaire. {_way_on()}"
        )
    return sections


def _way_on() -> str:
    return "Call read_questionnaire for the ids of its sections."
