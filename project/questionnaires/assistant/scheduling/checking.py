from typing import Any

from django.db.models import Count
from django.utils.translation import gettext_lazy as _

import ai_assistant
from ai_assistant import RunContext
from project.questionnaires.assistant.scheduling.opened import schedule_by_id
from project.questionnaires.models import Questionnaire, Schedule, Section
from project.questionnaires.windows import overlap


@ai_assistant.tool(
    effect="read",
    permission="questionnaires.view_schedule",
    label=_("Check the sections of a schedule"),
)
def validate_schedule_sections(context: RunContext, schedule_id: int) -> dict[str, Any]:
    """
    Check that people would be asked something by one schedule, and say what is wrong.

    It finds empty and foreign sections, and windows that run into each other.
    """
    schedule = schedule_by_id(schedule_id)
    problems = [*_of_sections(schedule), *_of_times(schedule)]
    return {"schedule_id": schedule.pk, "ok": not problems, "problems": problems}


def _of_sections(schedule: Schedule) -> list[str]:
    sections = _asked(schedule)
    if not sections:
        return ["The questionnaire has no sections."]
    problems = [
        f"Section {section.title!r} ({section.pk}) has no questions."
        for section in sections
        if not section.question_count
    ]
    problems += [
        f"Section {section.title!r} ({section.pk}) is of another questionnaire."
        for section in sections
        if section.questionnaire_id != schedule.questionnaire_id
    ]
    return problems


def _of_times(schedule: Schedule) -> list[str]:
    problems = []
    if overlap(schedule):
        problems.append("A window is still open when the next one opens.")
    is_published = schedule.questionnaire.status == Questionnaire.Status.PUBLISHED
    if schedule.active and not is_published:
        problems.append(
            f"The schedule is active, but its questionnaire is "
            f"{schedule.questionnaire.status}."
        )
    return problems


def _asked(schedule: Schedule) -> list[Section]:
    """Return the sections that are asked, each with its number of questions."""
    sections = Section.objects.annotate(question_count=Count("questions"))
    own = sections.filter(schedule_sections__schedule=schedule)
    return list(own) or list(sections.filter(questionnaire=schedule.questionnaire))
