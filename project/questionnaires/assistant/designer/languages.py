from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, ConfigDict

import ai_assistant
from ai_assistant import ModelRetry, RunContext
from project.questionnaires.assistant.checking import check, checked_config
from project.questionnaires.assistant.designer.opened import question_of, to_change
from project.questionnaires.models import (
    ConfigOverride,
    Question,
    Questionnaire,
    QuestionTranslation,
)

MAX_ROWS = 100


class Override(BaseModel):
    """The configuration of one question in one language."""

    model_config = ConfigDict(extra="forbid")

    question_id: int
    language_code: str
    config: dict[str, Any]


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_question",
    label=_("Translate questions"),
    preview="transaction",
)
def translate_questions(
    context: RunContext, target_language: str, translations: dict[str, str]
) -> dict[str, Any]:
    """
    Set the texts of several questions in another language of the questionnaire.

    translations: from the id of each question to its text in that language.
    """
    questionnaire = to_change(context)
    _check_language(questionnaire, target_language)
    if target_language == questionnaire.default_language:
        raise ModelRetry(
            f"Language {target_language!r} is the default one, in which the questions "
            "are written. Call update_question to change such a text."
        )
    _check_number(len(translations))
    for question_id, text in translations.items():
        _translate(_question(questionnaire, question_id), target_language, text)
    questionnaire.bump_revision()
    return {"language": target_language, "translated": len(translations)}


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_question",
    label=_("Set a configuration in a language"),
    preview="transaction",
)
def set_question_config_override(
    context: RunContext, question_id: int, language_code: str, config: dict[str, Any]
) -> dict[str, Any]:
    """Set the configuration of one question in one language of the questionnaire."""
    override = Override(
        question_id=question_id, language_code=language_code, config=config
    )
    questionnaire = to_change(context)
    _override(questionnaire, override)
    questionnaire.bump_revision()
    return override.model_dump()


@ai_assistant.tool(
    effect="write",
    permission="questionnaires.change_question",
    label=_("Set configurations in languages"),
    preview="transaction",
)
def set_question_config_overrides(
    context: RunContext, overrides: list[Override]
) -> dict[str, Any]:
    """Set the configurations of several questions in languages: all, or none."""
    questionnaire = to_change(context)
    _check_number(len(overrides))
    for index, override in enumerate(overrides):
        _override(questionnaire, override, where=f"overrides[{index}]: ")
    questionnaire.bump_revision()
    return {"set": len(overrides)}


@ai_assistant.tool(
    effect="destructive",
    permission="questionnaires.change_question",
    label=_("Remove a configuration in a language"),
    preview="transaction",
)
def remove_question_config_override(
    context: RunContext, question_id: int, language_code: str
) -> dict[str, Any]:
    """Remove the configuration of one question in one language: its own holds then."""
    questionnaire = to_change(context)
    question = question_of(questionnaire, question_id)
    count, _rows = question.overrides.filter(language=language_code).delete()
    if not count:
        raise ModelRetry(
            f"Question {question_id!r} has no configuration in {language_code!r}. "
            "There is nothing to remove."
        )
    questionnaire.bump_revision()
    return {"question_id": question.pk, "removed": language_code}


def _translate(question: Question, language: str, text: str) -> None:
    row = QuestionTranslation.objects.filter(
        question=question, language=language
    ).first() or QuestionTranslation(question=question, language=language)
    row.text = text.strip()
    check(row, where=f"Translation of question {question.pk!r}: ")
    row.save()


def _override(
    questionnaire: Questionnaire, override: Override, *, where: str = ""
) -> None:
    try:
        question = question_of(questionnaire, override.question_id)
        _check_language(questionnaire, override.language_code)
    except ModelRetry as error:
        raise ModelRetry(f"{where}{error}") from error
    config = checked_config(override.config, question.type, where=where)
    ConfigOverride.objects.update_or_create(
        question=question,
        language=override.language_code,
        defaults={"config": config},
    )


def _question(questionnaire: Questionnaire, question_id: str) -> Question:
    if not (question_id.isascii() and question_id.isdecimal()):
        raise ModelRetry(
            f"Question {question_id!r} is no id. Choose an id from the outline."
        )
    return question_of(questionnaire, int(question_id))


def _check_language(questionnaire: Questionnaire, language: str) -> None:
    if language not in questionnaire.languages:
        raise ModelRetry(
            f"Language {language!r} is none of this questionnaire. "
            f"It has: {', '.join(questionnaire.languages)}."
        )


def _check_number(number: int) -> None:
    if not 0 < number <= MAX_ROWS:
        raise ModelRetry(
            f"{number} cannot be set at once. Call again with 1 to {MAX_ROWS}."
        )
