"""The open questionnaire as the prompt tells it, within a bound."""

import json
from collections.abc import Iterator
from typing import Any

from ai_assistant import RunContext
from project.questionnaires.models import Questionnaire, QuestionType, Section

MAX_CHARS = 5000
TEXT_CHARS = 60
CUT = "The outline goes on. Call read_questionnaire for all of it."


def outline(context: RunContext, questionnaire: Questionnaire) -> str:
    """
    Return one JSON object a line: the questionnaire, its sections, its questions.

    Only what the user may see, and at most MAX_CHARS characters.
    """
    lines: list[str] = []
    left = MAX_CHARS
    for row in _rows(context, questionnaire):
        line = json.dumps(row, ensure_ascii=False)
        left -= len(line) + 1
        if left < 0:
            return "\n".join([*lines, CUT])
        lines.append(line)
    return "\n".join(lines)


def _rows(context: RunContext, questionnaire: Questionnaire) -> Iterator[Any]:
    may = context.user.has_perm
    if not may("questionnaires.view_questionnaire"):
        return
    yield {
        "questionnaire": questionnaire.pk,
        "title": questionnaire.title,
        "status": questionnaire.status,
        "languages": questionnaire.languages,
        "default_language": questionnaire.default_language,
    }
    yield {"types": list(QuestionType.objects.values_list("slug", flat=True))}
    if may("questionnaires.view_scoringvariable"):
        for variable in questionnaire.variables.all():
            yield {
                "variable": variable.pk,
                "name": variable.name,
                "type": variable.type,
            }
    if may("questionnaires.view_section"):
        with_questions = may("questionnaires.view_question")
        sections = questionnaire.sections.prefetch_related("questions__type")
        for section in sections:
            yield from _of_section(section, with_questions=with_questions)


def _of_section(section: Section, *, with_questions: bool) -> Iterator[Any]:
    yield {"section": section.pk, "title": section.title[:TEXT_CHARS]}
    if not with_questions:
        return
    for question in section.questions.all():
        yield {
            "question": question.pk,
            "type": question.type.slug,
            "name": question.name,
            "text": question.text[:TEXT_CHARS],
        }
