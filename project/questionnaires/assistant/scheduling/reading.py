from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

import ai_assistant
from ai_assistant import RunContext
from project.questionnaires.assistant.scheduling.config import told
from project.questionnaires.assistant.scheduling.opened import opened, schedule_by_id
from project.questionnaires.models import Schedule
from project.questionnaires.windows import access_windows, count_windows
from project.questionnaires.wording import describe

MAX_LISTED = 50
PERMISSION = "questionnaires.view_schedule"


@ai_assistant.tool(effect="read", permission=PERMISSION, label=_("List schedules"))
def get_schedules(context: RunContext) -> dict[str, Any]:
    """
    List the schedules, by questionnaire: those of the open one, or of all.

    At most 50 are returned; `total` counts them all.
    """
    schedules = Schedule.objects.select_related("questionnaire")
    if (current := opened(context)) is not None:
        schedules = schedules.filter(questionnaire=current.questionnaire)
    shown = schedules.order_by("questionnaire__title", "name", "pk")[:MAX_LISTED]
    rows = [
        {
            "id": schedule.pk,
            "name": schedule.name,
            "questionnaire": schedule.questionnaire.title,
            "active": schedule.active,
        }
        for schedule in shown
    ]
    return {"total": schedules.count(), "schedules": rows}


@ai_assistant.tool(effect="read", permission=PERMISSION, label=_("Read a schedule"))
def get_schedule_details(context: RunContext, schedule_id: int) -> dict[str, Any]:
    """Return one schedule with its configuration and the sections that it asks."""
    schedule = schedule_by_id(schedule_id)
    asked = schedule.schedule_sections.select_related("section")
    return {
        "id": schedule.pk,
        "name": schedule.name,
        "questionnaire_id": schedule.questionnaire_id,
        "questionnaire": schedule.questionnaire.title,
        "config": told(schedule),
        "sections": [
            {"id": row.section_id, "title": row.section.title} for row in asked
        ]
        or "all sections of the questionnaire",
    }


@ai_assistant.tool(
    effect="read", permission=PERMISSION, label=_("Preview access windows")
)
def preview_access_windows(context: RunContext, schedule_id: int) -> dict[str, Any]:
    """
    Return when people could answer: the first twelve windows of one schedule.

    If the anchor is no fixed date, it is assumed to be today.
    """
    schedule = schedule_by_id(schedule_id)
    fixed = schedule.anchor == Schedule.Anchor.FIXED_DATE
    anchor = (fixed and schedule.anchor_date) or timezone.localdate()
    windows = access_windows(schedule, anchor)
    return {
        "schedule_id": schedule.pk,
        "anchor": anchor,
        "anchor_is_assumed": not fixed,
        "total": count_windows(schedule, anchor) or "without end",
        "windows": [{"opens": one.opens, "closes": one.closes} for one in windows],
    }


@ai_assistant.tool(effect="read", permission=PERMISSION, label=_("Describe a schedule"))
def describe_schedule(context: RunContext, schedule_id: int) -> dict[str, Any]:
    """Return one schedule in words, for people."""
    schedule = schedule_by_id(schedule_id)
    return {
        "schedule_id": schedule.pk,
        "name": schedule.name,
        "words": describe(schedule),
    }
