from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, ConfigDict, Field

import ai_assistant
from ai_assistant import ModelRetry, RunContext
from project.questionnaires.assistant.designer.opened import (
    question_of,
    to_change,
    to_read,
)
from project.questionnaires.flow import (
    MAX_ACTIONS,
    Known,
    action_error,
    condition_error,
    known_in,
)
from project.questionnaires.models import Question, QuestionActionGroup

MAX_GROUPS = 10


class ActionGroup(BaseModel):
    """Actions that are carried out together, if the condition holds."""

    model_config = ConfigDict(extra="forbid")

    condition: dict[str, Any] = Field(default_factory=dict)
    actions: list[dict[str, Any]] = Field(min_length=1, max_length=MAX_ACTIONS)


class QuestionActions(BaseModel):
    """All that happens around a question."""

    model_config = ConfigDict(extra="forbid")

    on_enter: list[ActionGroup] = Field(default_factory=list, max_length=MAX_GROUPS)
    on_answer: list[ActionGroup] = Field(default_factory=list, max_length=MAX_GROUPS)


@ai_assistant.tool(
    effect="read",
    permission="questionnaires.view_question",
    label=_("Read the actions of a question"),
)
def get_question_actions(
    context: RunContext, question_id: int, section_id: int
) -> dict[str, Any]:
    """Return what happens when one question is shown and when it is answered."""
    question = question_of(to_read(context), question_id, section_id)
    return {"question_id": question.pk, "name": question.name, **_told(question)}


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_question",
    label=_("Set the actions of a question"),
    preview="transaction",
)
def set_question_actions(
    context: RunContext, section_id: int, question_id: int, actions: QuestionActions
) -> dict[str, Any]:
    """
    Set all that happens around one question, in place of what was there.

    actions: groups for on_enter and on_answer; read_core_documentation tells the form.
    """
    questionnaire = to_change(context)
    question = question_of(questionnaire, question_id, section_id)
    known = known_in(questionnaire)
    made = [
        _group(question, trigger, place, group, known)
        for trigger in ("on_enter", "on_answer")
        for place, group in enumerate(getattr(actions, trigger))
    ]
    question.action_groups.all().delete()
    QuestionActionGroup.objects.bulk_create(made)
    questionnaire.bump_revision()
    return {"question_id": question.pk, **_told(question)}


def _group(
    question: Question, trigger: str, place: int, group: ActionGroup, known: Known
) -> QuestionActionGroup:
    errors = [condition_error(group.condition, known)]
    errors += [action_error(action, known) for action in group.actions]
    if wrong := next((error for error in errors if error), ""):
        raise ModelRetry(
            f"{trigger}[{place}]: {wrong} Nothing was changed. "
            "Call read_core_documentation for the form of conditions and actions."
        )
    return QuestionActionGroup(
        question=question,
        trigger=trigger,
        position=place,
        condition=group.condition,
        actions=group.actions,
    )


def _told(question: Question) -> dict[str, Any]:
    told: dict[str, Any] = {"on_enter": [], "on_answer": []}
    for group in question.action_groups.all():
        told[group.trigger].append(
            {"condition": group.condition, "actions": group.actions}
        )
    return told
