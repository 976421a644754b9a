from typing import Any, Literal

from django.db.models import Count, Q
from django.utils.translation import gettext_lazy as _

import ai_assistant
from ai_assistant import ModelRetry, RunContext
from project.questionnaires.assistant.lookup import questionnaire_by_id
from project.questionnaires.models import Question, Questionnaire, Section

MAX_LISTED = 50


@ai_assistant.tool(
    effect="read",
    permission="questionnaires.view_questionnaire",
    label=_("List questionnaires"),
)
def list_questionnaires(
    context: RunContext,
    status: Literal["draft", "published", "archived"] | None = None,
    search: str = "",
    limit: int = 20,
) -> dict[str, Any]:
    """
    List questionnaires by title, with id, status and revision.

    Use it to find the id of a questionnaire that the user names, with words of its
    title or description as `search`. `limit` is at most 50; `total` counts all that
    match.
    """
    if not 1 <= limit <= MAX_LISTED:
        raise ModelRetry(
            f"limit {limit!r} is out of range (1 to {MAX_LISTED}). "
            "Call again with a smaller one, or narrow the search."
        )
    found = Questionnaire.objects.all()
    if status is not None:
        found = found.filter(status=status)
    for word in search.split():
        found = found.filter(Q(title__icontains=word) | Q(description__icontains=word))
    rows = found.values("id", "title", "status", "revision")[:limit]
    return {"total": found.count(), "questionnaires": list(rows)}


@ai_assistant.tool(
    effect="read",
    permission="questionnaires.view_question",
    label=_("Count questions"),
)
def count_questions(
    context: RunContext, questionnaire_id: int | None = None
) -> dict[str, Any]:
    """
    Count the questions of one questionnaire, or of all, also by type.

    Use it for "how many questions"; leave `questionnaire_id` out to count them all.
    """
    questions = Question.objects.order_by()
    counted = {}
    if questionnaire_id is not None:
        _needs(context, "questionnaires.view_questionnaire")
        questionnaire = questionnaire_by_id(questionnaire_id)
        questions = questions.filter(section__questionnaire=questionnaire)
        counted["questionnaire"] = questionnaire.title
    by_type = questions.values_list("type__label").annotate(n=Count("pk"))
    counts = dict(sorted(by_type, key=lambda row: (-row[1], row[0])))
    return {**counted, "questions": sum(counts.values()), "by_type": counts}


@ai_assistant.tool(
    effect="read",
    permission="questionnaires.view_questionnaire",
    label=_("Read a questionnaire"),
)
def read_questionnaire(context: RunContext, questionnaire_id: int) -> dict[str, Any]:
    """
    Read the outline of one questionnaire: its sections and questions, with ids.

    Use it before you change a section, or when the user asks what is in a
    questionnaire. Positions count from 0.
    """
    questionnaire = questionnaire_by_id(questionnaire_id)
    outline = {
        "id": questionnaire.pk,
        "title": questionnaire.title,
        "description": questionnaire.description,
        "status": questionnaire.status,
        "languages": questionnaire.languages,
        "revision": questionnaire.revision,
    }
    if context.user.has_perm("questionnaires.view_section"):
        sections = questionnaire.sections.prefetch_related("questions__type")
        with_questions = context.user.has_perm("questionnaires.view_question")
        outline["sections"] = [
            _section_outline(section, with_questions=with_questions)
            for section in sections
        ]
    return outline


def _section_outline(section: Section, *, with_questions: bool) -> dict[str, Any]:
    outline: dict[str, Any] = {
        "id": section.pk,
        "position": section.position,
        "title": section.title,
    }
    if with_questions:
        outline["questions"] = [
            {"id": question.pk, "text": question.text, "type": question.type.label}
            for question in section.questions.all()
        ]
    return outline


def _needs(context: RunContext, permission: str) -> None:
    if not context.user.has_perm(permission):
        raise ai_assistant.ToolFailed(
            f"Permission {permission!r} is missing.",
            suggestion="Tell the user whom to ask: an administrator of the site.",
        )
