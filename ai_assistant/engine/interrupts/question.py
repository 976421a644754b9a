"""Questions: a tool asks, and is called again with what the person answers."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.interrupts.base import (
    ENDED_AS,
    PersonKind,
    register_kind,
    unanswered,
)
from ai_assistant.engine.interrupts.results import record_result
from ai_assistant.events import Event
from ai_assistant.exceptions import Ask, Refused
from ai_assistant.models import clock
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.text.unicode import join_surrogates, whole_json
from ai_assistant.types import JSON

Option = Mapping[str, str]  # id, label, description

QUESTIONS = Interrupt.QuestionKind
SHOWN_CHARS = 80  # of a wrong answer, in the sentence about it


class Question(PersonKind):
    """Waits for a text, yes or no, or one or several options."""

    name = Interrupt.Kind.QUESTION

    def ask(self, call: ToolCall, ask: Ask) -> Sequence[Event]:
        """
        Let the call wait for an answer.

        One that was left without an answer is not asked again for the same call.
        """
        text = join_surrogates(_repeat_reason(call, ask) + str(ask.question))
        if past := self._left_before(call, text):
            status, reason = ENDED_AS[past.status]
            return record_result(call, unanswered(past), status=status, reason=reason)
        ttl_s = conf.get("TIMEOUTS", "QUESTION_S")
        fact = self.open(
            call,
            question=text,
            question_kind=ask.kind,
            options=whole_json(ask.choices),
            strict=ask.strict,
            default=_storable_default(ask.default),
            key=ask.key,
            asked_by=ask.asked_by,
            expires_at=clock.now() + timedelta(seconds=ttl_s) if ttl_s else None,
        )
        return [fact]

    def validate(
        self, interrupt: Interrupt, texts: Sequence[str], *, typed: bool = False
    ) -> JSON:
        """Return what `texts` mean: a text, a bool, an id or a list of ids."""
        return _parse_answer(interrupt, texts, typed=typed)

    def _left_before(self, call: ToolCall, text: str) -> Interrupt | None:
        interrupts = Interrupt.objects.filter(
            run_id=call.run_id,
            kind=self.name,
            status__in=ENDED_AS,
            call__name=call.name,
            arguments_digest=call.arguments_digest,
            question=text,
        )
        return interrupts.first()


QUESTION = register_kind(Question())


def _repeat_reason(call: ToolCall, ask: Ask) -> str:
    """Return why an answered question is asked again, if that is known."""
    answered = call.interrupts.filter(
        key=ask.key, asked_by=ask.asked_by, status=Interrupt.Status.ANSWERED
    ).last()
    if answered is None or not ask.has_lost(answered.answer):
        return ""
    return _("What was chosen no longer exists.") + " "


def kind_of(question: Interrupt) -> str:
    """Return the kind of a question; old rows have options only."""
    kind = str(question.question_kind)
    return QUESTIONS.SELECT if kind == QUESTIONS.TEXT and question.options else kind


def options_of(question: Interrupt) -> list[Option]:
    """Return the options as id, label and description; old rows have texts."""
    options: list[Option] = [
        option
        if isinstance(option, dict)
        else {"id": option, "label": option, "description": ""}
        for option in question.options
    ]
    if kind_of(question) != QUESTIONS.CONFIRM:
        return options
    words = {"yes": _("Yes"), "no": _("No")}
    return [
        {**option, "label": option["label"] or words[option["id"]]}
        for option in options
    ]


def _storable_default(default: object) -> JSON:
    """Return the answer that is proposed, as JSON: ids are texts."""
    if default is None or isinstance(default, bool):
        return default
    if isinstance(default, list | tuple | set | frozenset):
        return whole_json([str(item) for item in default])
    return whole_json(str(default))


def _parse_answer(
    question: Interrupt, answers: Sequence[str], *, typed: bool = False
) -> JSON:
    """
    Return what `answers` mean.

    `typed` is a message: it names options by what the person sees, not by ids.
    Raise Refused if it is no answer to this question.
    """
    texts = [text for text in (text.strip() for text in answers) if text]
    if not texts:
        raise Refused("empty", _("Write an answer, or choose one."))
    kind = kind_of(question)
    if kind == QUESTIONS.MULTI_SELECT:
        return _parse_options(question, texts, typed=typed)
    if len(texts) > 1:
        raise Refused("wrong_answer", _("Give one answer only."))
    if kind == QUESTIONS.TEXT:
        return texts[0]
    option = _option(question, texts[0], typed=typed)
    if kind == QUESTIONS.CONFIRM:
        return _yes_or_no(question, option)
    return option["id"] if option else _free_text(question, texts[0])


def _parse_options(question: Interrupt, texts: list[str], *, typed: bool) -> list[str]:
    option_of = partial(_option, question, typed=typed)
    if len(texts) == 1 and option_of(texts[0]) is None:
        # In a message, the options follow one another.
        parts = [part.strip() for part in texts[0].split(",")]
        texts = parts if all(map(option_of, parts)) else texts
    ids = []
    for text in texts:
        option = option_of(text)
        ids.append(option["id"] if option else _free_text(question, text))
    return list(dict.fromkeys(ids))


def _yes_or_no(question: Interrupt, option: Option | None) -> bool:
    if option is None:
        yes, no = (option["label"] for option in options_of(question))
        sentence = _("Answer with “%(yes)s” or “%(no)s”.")
        raise Refused("wrong_answer", sentence % {"yes": yes, "no": no})
    return option["id"] == "yes"


def _free_text(question: Interrupt, text: str) -> str:
    # A text that is an id would be the option to the tool, and was not meant so.
    is_id = any(option["id"].strip() == text for option in options_of(question))
    if question.strict or is_id:
        sentence = _("“%(text)s” is not one of the options. Choose one of them.")
        raise Refused("wrong_answer", sentence % {"text": text[:SHOWN_CHARS]})
    return text


def _option(question: Interrupt, text: str, *, typed: bool) -> Option | None:
    """
    Return the option that a person means, if it is one and not several.

    A form sends ids. A typed text means labels: an id may be another option's label.
    """
    options = options_of(question)
    by_id = [option for option in options if option["id"].strip() == text]
    if by_id and not typed:
        return by_id[0]
    folded = text.casefold()
    exact = [option for option in options if option["label"].strip() == text]
    alike = [
        option for option in options if option["label"].strip().casefold() == folded
    ]
    labelled = exact or alike
    return labelled[0] if len(labelled) == 1 else None
