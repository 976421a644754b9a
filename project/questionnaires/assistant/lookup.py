"""Finds the row that a call names, or tells the model how to name it."""

from ai_assistant import ModelRetry
from project.questionnaires.models import Questionnaire, Section


def questionnaire_by_id(questionnaire_id: int) -> Questionnaire:
    """Return the questionnaire, or raise ModelRetry if there is none."""
    found = Questionnaire.objects.filter(pk=questionnaire_id).first()
    if found is None:
        raise ModelRetry(
            f"Questionnaire {questionnaire_id!r} does not exist. "
            "Call list_questionnaires to find its id."
        )
    return found


def section_by_id(section_id: int) -> Section:
    """Return the section with its questionnaire, or raise ModelRetry."""
    sections = Section.objects.select_related("questionnaire")
    found = sections.filter(pk=section_id).first()
    if found is None:
        raise ModelRetry(
            f"Section {section_id!r} does not exist. "
            "Call read_questionnaire to see the ids of its sections."
        )
    return found
