from typing import Any

from django.utils.translation import gettext_lazy as _

import ai_assistant
from ai_assistant import ModelRetry, RunContext
from project.questionnaires.assistant.designer.opened import (
    question_of,
    section_of,
    to_change,
)
from project.questionnaires.ordering import moved, place_questions


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_question",
    label=_("Move a question"),
    preview="transaction",
)
def move_question(
    context: RunContext,
    question_id: int,
    target_position: int,
    target_section_id: int,
    section_id: int,
) -> dict[str, Any]:
    """
    Move one question to another place, in its own section or another one.

    target_position: its place in the target section afterwards, counted from 0.
    section_id: the section in which the question is now.
    """
    questionnaire = to_change(context)
    question = question_of(questionnaire, question_id, section_id)
    source = question.section
    target = section_of(questionnaire, target_section_id)
    order = list(target.questions.all())
    try:
        after = moved(order, question, target_position)
    except IndexError as error:
        last = len(order) - (target == source)
        raise ModelRetry(
            f"target_position {target_position!r} is outside of 0 to {last} in "
            f"section {target.title!r}. Call again with a place in it."
        ) from error
    if target != source:
        question.section = target
        question.save(update_fields=["section"])
        place_questions(list(source.questions.all()))
    place_questions(after)
    questionnaire.bump_revision()
    return {
        "question_id": question.pk,
        "section_id": target.pk,
        "question_ids": [one.pk for one in after],
    }
