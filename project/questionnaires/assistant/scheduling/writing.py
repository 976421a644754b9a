from typing import Any

from django.utils.translation import gettext_lazy as _

import ai_assistant
from ai_assistant import ModelRetry, RunContext
from project.questionnaires.assistant.checking import check
from project.questionnaires.assistant.scheduling.config import ScheduleConfig, apply
from project.questionnaires.assistant.scheduling.opened import (
    opened,
    refuse_archived,
    schedule_to_change,
    sections_of,
)
from project.questionnaires.models import Schedule, ScheduleSection, Section
from project.questionnaires.wording import describe


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.add_schedule",
    label=_("Create a schedule"),
    preview="transaction",
)
def create_schedule(
    context: RunContext,
    name: str,
    sections: list[int],
    config: ScheduleConfig | None = None,
) -> dict[str, Any]:
    """
    Create a schedule for sections of one questionnaire.

    sections: the ids of the sections to ask; empty means all of the open one's.
    config: when; left out, people are asked once, on the day of their enrolment.
    """
    current = opened(context)
    root = current.questionnaire if current else None
    asked = sections_of(sections, root)
    if asked:
        root = asked[0].questionnaire
    if root is None:
        raise ModelRetry(
            "sections are empty and no schedule is open, so it is not clear which "
            "questionnaire is meant. Call again with ids of its sections."
        )
    refuse_archived(root)
    schedule = Schedule(questionnaire=root, name=name.strip())
    _save(schedule, config)
    _ask_sections(schedule, asked)
    return _told(schedule)


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_schedule",
    label=_("Change a schedule"),
    preview="transaction",
)
def update_schedule(
    context: RunContext,
    schedule_id: int,
    name: str | None = None,
    sections: list[int] | None = None,
    config: ScheduleConfig | None = None,
) -> dict[str, Any]:
    """
    Change one schedule; what is left out stays as it is.

    sections: the ids of all sections to ask, in their order; empty means all.
    config: only the fields to change; null empties one.
    """
    schedule = schedule_to_change(schedule_id)
    if name is not None:
        schedule.name = name.strip()
    _save(schedule, config)
    if sections is not None:
        _ask_sections(schedule, sections_of(sections, schedule.questionnaire))
    return _told(schedule)


@ai_assistant.tool(
    effect="destructive",
    permission="questionnaires.delete_schedule",
    label=_("Delete a schedule"),
    preview="transaction",
)
def delete_schedule(context: RunContext, schedule_id: int) -> dict[str, Any]:
    """Delete one schedule. Nobody is asked by it any more."""
    schedule = schedule_to_change(schedule_id)
    told = _told(schedule)
    schedule.delete()
    schedule.questionnaire.bump_revision()
    return {"deleted": told}


def _save(schedule: Schedule, config: ScheduleConfig | None) -> None:
    if config is not None:
        apply(config, schedule)
    check(schedule)
    schedule.save()
    schedule.questionnaire.bump_revision()


def _ask_sections(schedule: Schedule, sections: list[Section]) -> None:
    schedule.schedule_sections.all().delete()
    ScheduleSection.objects.bulk_create(
        ScheduleSection(schedule=schedule, section=section, position=place)
        for place, section in enumerate(sections)
    )


def _told(schedule: Schedule) -> dict[str, Any]:
    return {
        "schedule_id": schedule.pk,
        "name": schedule.name,
        "questionnaire": schedule.questionnaire.title,
        "words": describe(schedule),
    }
