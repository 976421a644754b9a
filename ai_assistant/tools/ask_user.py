"""The tool with which the model asks the user a question."""

from typing import Annotated, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import BaseModel, Field

from ai_assistant.decorators import tool
from ai_assistant.exceptions import Ask, ModelRetry
from ai_assistant.modules.resolve import module_of
from ai_assistant.registry import registry
from ai_assistant.types import JSON, QuestionKind, RunContext

KEY = "answer"
QUESTION_CHARS = 1000
MOST_OPTIONS = 20


class AnswerOption(BaseModel):
    """An answer to choose."""

    label: str
    id: str = ""
    description: str = ""


Options = Annotated[list[AnswerOption | str], Field(max_length=MOST_OPTIONS)]
Question = Annotated[str, Field(min_length=1, max_length=QUESTION_CHARS)]


@tool(
    effect="ui",
    label=gettext_lazy("Question"),
    shared=True,
    is_enabled=lambda context: module_of(context).has("ask_user"),
    icon="chat",
    prompt_hint=(
        "If you need a choice or a fact that no tool tells, call ask_user instead of "
        "asking in your answer. A change is confirmed by itself: do not ask for that."
    ),
)
def ask_user(
    context: RunContext,
    question: Question,
    options: Options = [],
    kind: QuestionKind = "text",
    strict: bool = False,  # noqa: FBT001, FBT002 - an argument of a tool has a name
) -> dict[str, JSON]:
    """
    Ask the user one question and wait for the answer.

    question: one sentence
    options: short answers to choose from, a description only where it helps
    kind: text, confirm (yes or no), select (one option) or multi_select (several)
    strict: only the options may be answered, no other text
    """
    try:
        ask = Ask(question, kind=kind, options=options, strict=strict, key=KEY)
    except ValueError as error:
        raise ModelRetry(str(error)) from error
    if KEY not in context.answers:
        raise ask
    answer = context.answers[KEY]
    return {
        "question": question,
        "outcome": "answered",
        "answer": answer,
        "labels": _labels(ask, answer),
    }


def is_ask_user(name: str) -> bool:
    """Return whether a call of that name is of this tool, not of one in its place."""
    found = registry.tool(name)
    return found is not None and found.handler is ask_user


def _labels(ask: Ask, answer: Any) -> list[str]:
    """Return the labels of the chosen options."""
    if isinstance(answer, bool):
        return [_("Yes") if answer else _("No")]
    labels = {choice["id"]: choice["label"] for choice in ask.choices}
    ids: list[str] = answer if isinstance(answer, list) else [answer]
    return [labels.get(option, option) for option in ids]
