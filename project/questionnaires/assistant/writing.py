from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

import ai_assistant
from ai_assistant import ModelRetry, RunContext, ToolFailed
from project.questionnaires.assistant.lookup import questionnaire_by_id, section_by_id
from project.questionnaires.models import Question, Questionnaire
from project.questionnaires.ordering import place_sections


def _renamed(_arguments: dict[str, Any], data: dict[str, Any]) -> str:
    """Return what the card says once it is done."""
    return gettext("Renamed section “%(before)s” to “%(after)s”") % data


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_section",
    label=_("Change the title of a section"),
    summary=_renamed,
    preview="transaction",
)
def rename_section(context: RunContext, section_id: int, title: str) -> dict[str, Any]:
    """
    Give one section a new title.

    Use it when the user wants a section to be called something else. Returns the
    old title and the new one.
    """
    section = section_by_id(section_id)
    before = section.title
    section.title = title.strip()
    try:
        section.clean_fields(exclude=("position",))
    except ValidationError as error:
        reason = " ".join(error.messages)
        raise ModelRetry(
            f"title {title!r} cannot be saved: {reason} Call again with another title."
        ) from error
    if section.title != before:
        section.save(update_fields=["title"])
        section.questionnaire.bump_revision()
    return {
        "section_id": section.pk,
        "questionnaire": section.questionnaire.title,
        "before": before,
        "after": section.title,
    }


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_questionnaire",
    label=_("Publish a draft questionnaire"),
    preview="transaction",
)
def publish_questionnaire(context: RunContext, questionnaire_id: int) -> dict[str, Any]:
    """
    Publish one questionnaire, so that it can be answered.

    Use it when the user says that a draft is ready. It must be a draft and hold at
    least one question.
    """
    questionnaire = questionnaire_by_id(questionnaire_id)
    if questionnaire.status != Questionnaire.Status.DRAFT:
        raise ModelRetry(
            f"Questionnaire {questionnaire.title!r} is {questionnaire.status}, not a "
            "draft. Call list_questionnaires with status 'draft' to see which are."
        )
    questions = Question.objects.filter(section__questionnaire=questionnaire).count()
    if not questions:
        raise ModelRetry(
            f"Questionnaire {questionnaire.title!r} has no questions. "
            "It needs some before it can be published."
        )
    questionnaire.status = Questionnaire.Status.PUBLISHED
    questionnaire.save(update_fields=["status"])
    questionnaire.bump_revision()
    return {
        "id": questionnaire.pk,
        "title": questionnaire.title,
        "status": questionnaire.status,
        "revision": questionnaire.revision,
        "questions": questions,
    }


@ai_assistant.tool(
    effect="destructive",
    permission="questionnaires.delete_section",
    label=_("Delete a section with its questions"),
    preview="transaction",
)
def delete_section(context: RunContext, section_id: int) -> dict[str, Any]:
    """
    Delete one section together with all of its questions.

    Use it only when the user asks for it in so many words. Returns what was deleted.
    """
    section = section_by_id(section_id)
    questionnaire = section.questionnaire
    questions = section.questions.count()
    if questions and not context.user.has_perm("questionnaires.delete_question"):
        raise ToolFailed(
            f"Section {section.title!r} holds {questions} questions, and permission "
            "'questionnaires.delete_question' is missing.",
            suggestion="Ask an administrator of the site for it.",
        )
    deleted = {
        "section_id": section.pk,
        "title": section.title,
        "questionnaire": questionnaire.title,
        "deleted_questions": questions,
    }
    section.delete()
    place_sections(list(questionnaire.sections.all()))
    questionnaire.bump_revision()
    return deleted
