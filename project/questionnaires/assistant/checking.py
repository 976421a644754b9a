"""Says in one sentence why a row cannot be saved."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model

from ai_assistant import ModelRetry
from project.questionnaires.configuration import configuration_error, schema_hint
from project.questionnaires.models import QuestionType


def check(row: Model, *, where: str = "", exclude: tuple[str, ...] = ()) -> None:
    """Validate a row as its form would. Raise ModelRetry, beginning with `where`."""
    try:
        row.full_clean(exclude=exclude)
    except ValidationError as error:
        raise ModelRetry(f"{where}{_said(error)} Correct it and call again.") from error


def checked_config(
    config: dict[str, Any] | None, question_type: QuestionType, *, where: str = ""
) -> dict[str, Any]:
    """
    Return the configuration, that of the type if there is none.

    Raise ModelRetry, with the schema, if it does not fit the type.
    """
    if config is None:
        return dict(question_type.default_config)
    if wrong := configuration_error(config, question_type):
        raise ModelRetry(
            f"{where}The configuration of a {question_type.slug!r} question is wrong: "
            f"{wrong}. {schema_hint(question_type)}"
        )
    return config


def _said(error: ValidationError) -> str:
    if not hasattr(error, "error_dict"):
        return " ".join(error.messages)
    return " ".join(
        f"{name}: {' '.join(messages)}" for name, messages in error.message_dict.items()
    )
