from typing import Any

from django.utils.translation import gettext_lazy as _

import ai_assistant
from ai_assistant import ModelRetry, RunContext
from project.questionnaires.assistant.checking import check
from project.questionnaires.assistant.designer.opened import section_of, to_change
from project.questionnaires.models import Section
from project.questionnaires.ordering import moved, place_sections


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.add_section",
    label=_("Add a section"),
    preview="transaction",
)
def add_section(context: RunContext, title: str) -> dict[str, Any]:
    """Add an empty section at the end of the open questionnaire."""
    questionnaire = to_change(context)
    order = list(questionnaire.sections.all())
    section = Section(questionnaire=questionnaire, title=title.strip())
    check(section, exclude=("position",))
    section.save()
    place_sections([*order, section])
    questionnaire.bump_revision()
    return _told(section)


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_section",
    label=_("Change the title of a section"),
    preview="transaction",
)
def update_section_title(
    context: RunContext, section_id: int, title: str
) -> dict[str, Any]:
    """Give one section of the open questionnaire a new title."""
    questionnaire = to_change(context)
    section = section_of(questionnaire, section_id)
    before = section.title
    section.title = title.strip()
    check(section, exclude=("position",))
    section.save(update_fields=["title"])
    questionnaire.bump_revision()
    return {**_told(section), "before": before}


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_section",
    label=_("Move a section"),
    preview="transaction",
)
def move_section(
    context: RunContext, section_id: int, target_position: int
) -> dict[str, Any]:
    """
    Move one section to another place in the open questionnaire.

    target_position: its place afterwards, counted from 0.
    """
    questionnaire = to_change(context)
    section = section_of(questionnaire, section_id)
    order = list(questionnaire.sections.all())
    try:
        after = moved(order, section, target_position)
    except IndexError as error:
        raise ModelRetry(
            f"target_position {target_position!r} is outside of 0 to "
            f"{len(order) - 1}. Call again with a place in it."
        ) from error
    place_sections(after)
    questionnaire.bump_revision()
    return {"section_ids": [one.pk for one in after]}


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_section",
    label=_("Reorder the sections"),
    preview="transaction",
)
def reorder_sections(context: RunContext, section_ids: list[int]) -> dict[str, Any]:
    """
    Put all sections of the open questionnaire in a new order.

    section_ids: every section of it exactly once, in the order wanted.
    """
    questionnaire = to_change(context)
    known = {section.pk: section for section in questionnaire.sections.all()}
    if wrong := _wrong_ids(section_ids, set(known)):
        raise ModelRetry(
            f"section_ids {wrong}. Nothing was moved. "
            f"Call again with each of {sorted(known)} exactly once."
        )
    place_sections([known[section_id] for section_id in section_ids])
    questionnaire.bump_revision()
    return {"section_ids": section_ids}


def _wrong_ids(given: list[int], known: set[int]) -> str:
    if missing := sorted(known - set(given)):
        return f"lack {missing}"
    if foreign := sorted(set(given) - known):
        return f"hold {foreign}, which this questionnaire has not"
    return "name a section twice" if len(given) != len(known) else ""


def _told(section: Section) -> dict[str, Any]:
    return {
        "section_id": section.pk,
        "title": section.title,
        "position": section.position,
    }
