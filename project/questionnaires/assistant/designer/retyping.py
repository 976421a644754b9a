from typing import Any

from django.utils.translation import gettext_lazy as _

import ai_assistant
from ai_assistant import RunContext
from project.questionnaires.assistant.checking import checked_config
from project.questionnaires.assistant.designer.opened import (
    question_of,
    to_change,
    type_of,
)


@ai_assistant.tool(
    effect="destructive",
    permission="questionnaires.change_question",
    label=_("Change the type of a question"),
    preview="transaction",
)
def change_question_type(
    context: RunContext,
    question_id: int,
    new_question_type_id: str,
    section_id: int,
    new_config: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """
    Change the type of one question; its configuration and every override are lost.

    new_question_type_id: the slug of the type, such as "number".
    new_config: settings of the new type; leave it out for its defaults.
    """
    questionnaire = to_change(context)
    question = question_of(questionnaire, question_id, section_id)
    question_type = type_of(new_question_type_id)
    before = question.type.slug
    question.config = checked_config(new_config, question_type)
    question.type = question_type
    question.save(update_fields=["type", "config"])
    removed = list(question.overrides.values_list("language", flat=True))
    question.overrides.all().delete()
    questionnaire.bump_revision()
    return {
        "question_id": question.pk,
        "before": before,
        "after": question_type.slug,
        "config": question.config,
        "removed_overrides": removed,
    }
