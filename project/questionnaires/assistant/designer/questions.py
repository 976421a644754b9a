from collections import Counter
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, ConfigDict

import ai_assistant
from ai_assistant import ModelRetry, RunContext
from project.questionnaires.assistant.checking import check, checked_config
from project.questionnaires.assistant.designer.opened import (
    question_of,
    section_of,
    to_change,
    type_of,
)
from project.questionnaires.flow import users_of
from project.questionnaires.models import Question, Section
from project.questionnaires.ordering import place_questions

MAX_QUESTIONS = 50


class NewQuestion(BaseModel):
    """One of several questions to add."""

    model_config = ConfigDict(extra="forbid")

    type: str
    text: str
    config: dict[str, Any] | None = None
    name: str = ""


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.add_question",
    label=_("Add a question"),
    preview="transaction",
)
def add_question(
    context: RunContext,
    section_id: int,
    question_type_id: str,
    question_text: str,
    config: dict[str, Any] | None = None,
    name: str = "",
) -> dict[str, Any]:
    """
    Add one question at the end of a section of the open questionnaire.

    question_type_id: the slug of the type, such as "yes-no".
    config: settings of that type; leave it out for its defaults.
    name: for conditions and exports, such as "sleep_hours"; may be empty.
    """
    questionnaire = to_change(context)
    section = section_of(questionnaire, section_id)
    new = NewQuestion(
        type=question_type_id, text=question_text, config=config, name=name
    )
    question = _made(new, section)
    _append(section, [question])
    questionnaire.bump_revision()
    return _told(question)


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.add_question",
    label=_("Add questions"),
    preview="transaction",
)
def add_questions(
    context: RunContext, section_id: int, questions: list[NewQuestion]
) -> dict[str, Any]:
    """
    Add several questions at the end of a section: all of them, or none if one is wrong.

    questions: in their order, each with the slug of its type, text, config, name.
    """
    questionnaire = to_change(context)
    section = section_of(questionnaire, section_id)
    if not 0 < len(questions) <= MAX_QUESTIONS:
        raise ModelRetry(
            f"{len(questions)} questions cannot be added at once. "
            f"Call again with 1 to {MAX_QUESTIONS}."
        )
    _check_names(questions)
    made = [
        _made(new, section, where=f"questions[{index}]: nothing was added. ")
        for index, new in enumerate(questions)
    ]
    _append(section, made)
    questionnaire.bump_revision()
    return {"section_id": section.pk, "added": [_told(one) for one in made]}


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_question",
    label=_("Change a question"),
    preview="transaction",
)
def update_question(
    context: RunContext,
    question_id: int,
    question_text: str | None = None,
    config: dict[str, Any] | None = None,
    name: str | None = None,
    description: str | None = None,
) -> dict[str, Any]:
    """
    Change the text, configuration, name or description of one question.

    What is left out stays as it is. A configuration replaces the whole old one.
    """
    questionnaire = to_change(context)
    question = question_of(questionnaire, question_id)
    if name is not None and name != question.name:
        _refuse_if_used(users_of(questionnaire, "question", question.name), question)
        question.name = name
    if question_text is not None:
        question.text = question_text.strip()
    if config is not None:
        question.config = checked_config(config, question.type)
    if description is not None:
        question.description = description
    check(question)
    question.save()
    questionnaire.bump_revision()
    return _told(question)


@ai_assistant.tool(
    effect="destructive",
    permission="questionnaires.delete_question",
    label=_("Delete a question"),
    preview="transaction",
)
def delete_question(
    context: RunContext, section_id: int, question_id: int
) -> dict[str, Any]:
    """
    Delete one question with its translations, overrides and actions.

    It is refused while conditions or actions of other questions refer to it.
    """
    questionnaire = to_change(context)
    question = question_of(questionnaire, question_id, section_id)
    users = users_of(questionnaire, "question", question.name)
    _refuse_if_used([user for user in users if user != question.name], question)
    told = _told(question)
    section = question.section
    question.delete()
    place_questions(list(section.questions.all()))
    questionnaire.bump_revision()
    return {"deleted": told}


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.add_question",
    label=_("Copy a question"),
    preview="transaction",
)
def clone_question(
    context: RunContext, question_id: int, section_id: int
) -> dict[str, Any]:
    """
    Copy one question of a section, and put the copy right after it.

    The copy has translations and overrides of its own, no name and no actions.
    """
    questionnaire = to_change(context)
    question = question_of(questionnaire, question_id, section_id)
    copy = Question.objects.create(
        section=question.section,
        type=question.type,
        text=question.text,
        description=question.description,
        config=question.config,
    )
    _copy_languages(question, copy)
    order = [one for one in question.section.questions.all() if one.pk != copy.pk]
    after = next(n for n, one in enumerate(order) if one.pk == question.pk) + 1
    place_questions([*order[:after], copy, *order[after:]])
    questionnaire.bump_revision()
    return _told(copy)


def _made(new: NewQuestion, section: Section, *, where: str = "") -> Question:
    """Return the question, valid and not yet stored. Raise ModelRetry."""
    try:
        question_type = type_of(new.type)
    except ModelRetry as error:
        raise ModelRetry(f"{where}{error}") from error
    question = Question(
        section=section,
        type=question_type,
        text=new.text.strip(),
        config=checked_config(new.config, question_type, where=where),
        name=new.name,
        position=0,  # given its place when it is stored
    )
    check(question, where=where)
    return question


def _append(section: Section, made: list[Question]) -> None:
    order = list(section.questions.all())
    for place, question in enumerate(made, start=len(order)):
        question.position = place
        question.save()
    place_questions([*order, *made])


def _check_names(questions: list[NewQuestion]) -> None:
    counted = Counter(new.name for new in questions if new.name)
    for index, new in enumerate(questions):
        if counted[new.name] > 1:
            raise ModelRetry(
                f"questions[{index}]: nothing was added. Name {new.name!r} is given to "
                f"{counted[new.name]} questions. Call again with different names."
            )


def _refuse_if_used(users: list[str], question: Question) -> None:
    if question.name and users:
        raise ModelRetry(
            f"Question {question.name!r} is needed by name: conditions or actions of "
            f"{', '.join(users)} refer to it. Call set_question_actions there first."
        )


def _copy_languages(question: Question, copy: Question) -> None:
    for rows in (question.translations, question.overrides):
        for row in rows.all():
            row.pk = None
            row._state.adding = True
            row.question = copy
            row.save()


def _told(question: Question) -> dict[str, Any]:
    return {
        "question_id": question.pk,
        "section_id": question.section_id,
        "type": question.type.slug,
        "text": question.text,
        "name": question.name,
        "position": question.position,
    }
