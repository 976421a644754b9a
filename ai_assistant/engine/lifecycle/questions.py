"""What may be answered to a question, and what an answer means."""

from collections.abc import Mapping, Sequence
from functools import partial

from django.utils.translation import gettext as _

from ai_assistant.exceptions import Refused
from ai_assistant.models.call import CallStatus
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.text.unicode import whole_json
from ai_assistant.types import JSON, ToolResult

Option = Mapping[str, str]  # id, label, description

QUESTIONS = Interrupt.QuestionKind
SHOWN_CHARS = 80  # of a wrong answer, in the sentence about it

# How the call of a question ends that was left without an answer.
ENDED_AS: Mapping[str, tuple[str, str]] = {
    Interrupt.Status.DECLINED: (CallStatus.CANCELLED, "skipped"),
    Interrupt.Status.EXPIRED: (CallStatus.DENIED, "expired"),
}


def kind_of(question: Interrupt) -> str:
    """Return the kind of a question; rows of old know options only."""
    kind = str(question.question_kind)
    return QUESTIONS.SELECT if kind == QUESTIONS.TEXT and question.options else kind


def options_of(question: Interrupt) -> list[Option]:
    """Return the options as id, label and description; rows of old have texts."""
    options: list[Option] = [
        one if isinstance(one, dict) else {"id": one, "label": one, "description": ""}
        for one in question.options
    ]
    if kind_of(question) != QUESTIONS.CONFIRM:
        return options
    words = {"yes": _("Yes"), "no": _("No")}
    return [{**one, "label": one["label"] or words[one["id"]]} for one in options]


def storable_default(default: object) -> JSON:
    """Return the answer that is proposed, as JSON: ids are texts."""
    if default is None or isinstance(default, bool):
        return default
    if isinstance(default, list | tuple | set | frozenset):
        return whole_json([str(one) for one in default])
    return whole_json(str(default))


def meant(question: Interrupt, said: Sequence[str], *, typed: bool = False) -> JSON:
    """
    Return what the answer `said` means: a text, a bool, an id or a list of ids.

    `typed` is a message: it names options by what the person sees, not by ids.
    Raise Refused if it is no answer to this question.
    """
    texts = [text for text in (one.strip() for one in said) if text]
    if not texts:
        raise Refused("empty", _("Write an answer, or choose one."))
    kind = kind_of(question)
    if kind == QUESTIONS.MULTI_SELECT:
        return _several(question, texts, typed=typed)
    if len(texts) > 1:
        raise Refused("wrong_answer", _("Give one answer only."))
    if kind == QUESTIONS.TEXT:
        return texts[0]
    option = _option(question, texts[0], typed=typed)
    if kind == QUESTIONS.CONFIRM:
        return _yes_or_no(question, option)
    return option["id"] if option else _free(question, texts[0])


def _several(question: Interrupt, texts: list[str], *, typed: bool) -> list[str]:
    option_of = partial(_option, question, typed=typed)
    if len(texts) == 1 and option_of(texts[0]) is None:
        # In a message, the options stand one after another.
        parts = [part.strip() for part in texts[0].split(",")]
        texts = parts if all(map(option_of, parts)) else texts
    ids = []
    for text in texts:
        option = option_of(text)
        ids.append(option["id"] if option else _free(question, text))
    return list(dict.fromkeys(ids))


def _yes_or_no(question: Interrupt, option: Option | None) -> bool:
    if option is None:
        yes, no = (one["label"] for one in options_of(question))
        sentence = _("Answer with “%(yes)s” or “%(no)s”.")
        raise Refused("wrong_answer", sentence % {"yes": yes, "no": no})
    return option["id"] == "yes"


def _free(question: Interrupt, text: str) -> str:
    # A text that is an id would be the option to the tool, and was not meant so.
    is_id = any(one["id"].strip() == text for one in options_of(question))
    if question.strict or is_id:
        sentence = _("“%(text)s” is not one of the options. Choose one of them.")
        raise Refused("wrong_answer", sentence % {"text": text[:SHOWN_CHARS]})
    return text


def _option(question: Interrupt, text: str, *, typed: bool) -> Option | None:
    """
    Return the option that a person means, if it is one and not several.

    A form says ids. Who types has seen labels only: an id may be another's label.
    """
    options = options_of(question)
    chosen = [one for one in options if one["id"].strip() == text]
    if chosen and not typed:
        return chosen[0]
    wanted = text.casefold()
    exact = [one for one in options if one["label"].strip() == text]
    alike = [one for one in options if one["label"].strip().casefold() == wanted]
    labelled = exact or alike
    return labelled[0] if len(labelled) == 1 else None


def unanswered(question: Interrupt, instead: str = "") -> ToolResult:
    """
    Return the result of the call of a question that was left without an answer.

    `instead` is what the person said that is no answer.
    """
    if question.status == Interrupt.Status.EXPIRED:
        error, error_type = _("Nobody answered “%(question)s” in time."), "expired"
    elif instead:
        error = _("“%(question)s” was not answered; said was: “%(instead)s”.")
        error_type = "declined"
    else:
        error, error_type = _("“%(question)s” was skipped, unanswered."), "declined"
    return ToolResult(
        ok=False,
        error=error % {"question": question.question, "instead": instead},
        error_type=error_type,
        suggestion=_("This must not be asked again. Go on without an answer, or end."),
    )
