import time
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy

import ai_assistant
from ai_assistant import RunContext
from project.questionnaires.assistant.lookup import questionnaire_by_id
from project.questionnaires.models import Question, Questionnaire, Section
from project.questionnaires.ordering import renumbered

DELAY_S = 0.33  # with the 24 questionnaires of the demo: 8 seconds to watch


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_section",
    label=gettext_lazy("Recompute positions"),
    background=True,
    resumable=True,
    timeout_s=300,
)
def recompute_positions(
    context: RunContext, questionnaire_id: int | None = None
) -> dict[str, Any]:
    """
    Number sections and questions from 0 without gaps, in one or in all questionnaires.

    Use it when positions have gaps or repeat. It takes some seconds and reports how
    far it is; leave `questionnaire_id` out for all of them.
    """
    wanted = Questionnaire.objects.order_by("pk")
    if questionnaire_id is not None:
        wanted = wanted.filter(pk=questionnaire_by_id(questionnaire_id).pk)
    questionnaires = list(wanted.only("pk", "title"))
    last = context.mark or 0  # the key of the last one that is committed
    for number, questionnaire in enumerate(questionnaires, start=1):
        if questionnaire.pk <= last:
            continue
        time.sleep(getattr(settings, "DEMO_TASK_DELAY_S", DELAY_S))
        with context.transaction(mark=questionnaire.pk):
            _recompute(questionnaire)
        context.progress(number, questionnaire.title, total=len(questionnaires))
    return {"questionnaires": len(questionnaires), "status": "positions recomputed"}


def _recompute(questionnaire: Questionnaire) -> None:
    sections = list(questionnaire.sections.order_by("position", "pk"))
    moved_sections = renumbered(sections)
    moved_questions = [
        question
        for section in sections
        for question in renumbered(list(section.questions.order_by("position", "pk")))
    ]
    Section.objects.bulk_update(moved_sections, ["position"])
    Question.objects.bulk_update(moved_questions, ["position"])
    if moved_sections or moved_questions:
        questionnaire.bump_revision()
