"""Everything that may go wrong, one class per audience and cause."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from math import ceil
from typing import Any


class AssistantError(Exception):
    """Base of all exceptions of this app. Do not raise directly."""


# --- for the developer of the site ---


class AlreadyRegistered(AssistantError):
    """The name is registered already."""


class NotRegistered(AssistantError):
    """The name is not registered."""


class ImproperlyConfiguredAssistant(AssistantError):
    """A setting is missing or wrong."""


class AppendOnly(AssistantError):
    """Entries of the audit log are added, never changed and never deleted."""


# --- for the model, which can repair its call ---


class ModelRetry(AssistantError):
    """
    Tell the model what is wrong with its call.

    Raise it in a tool; the text is shown to the model, which may call again.
    """


class WrongArguments(ModelRetry):
    """
    Tell the model that its arguments do not fit the tool's schema.

    `schema_hint` holds the part of the schema that they have to fit.
    """

    def __init__(self, message: str, *, schema_hint: dict[str, Any]) -> None:
        super().__init__(message)
        self.schema_hint = schema_hint


class NotValid(ModelRetry):
    """
    Tell the model that validation of the site refuses what it writes.

    `sentence` is for the person, in their language: their card shows it.
    """

    def __init__(self, message: str, *, sentence: str) -> None:
        super().__init__(message)
        self.sentence = sentence


class ToolFailed(AssistantError):
    """
    Tell the model that the call failed and that repeating it will not help.

    Raise it in a tool; `suggestion` says what else could be done.
    """

    def __init__(self, message: str, *, suggestion: str = "") -> None:
        super().__init__(message)
        self.suggestion = suggestion


class Ask(AssistantError):
    """
    Ask the person before the tool continues.

    Raise it in a tool; the tool is called again from its start, with the answer
    under `key` in `context.answers`: a text, True or False for `confirm`, the id of
    an option for `select`, a list of ids for `multi_select`. An option is a text, a
    dict or an object with id, label and description, or a model instance; `options`
    may also be a function that returns them. Unless `strict`, the person may write
    something else. A question that is skipped or expires ends the call.
    """

    KINDS = ("text", "confirm", "select", "multi_select")
    MOST_OPTIONS = 100
    KEY_CHARS = 100
    interrupt = "question"  # the kind of interrupt that it opens

    def __init__(  # noqa: PLR0913 - each is one word of the vocabulary
        self,
        question: str,
        *,
        kind: str = "text",
        options: Iterable[Any] | Callable[[], Iterable[Any]] = (),
        default: Any = None,
        strict: bool = False,
        key: str = "answer",
        confirm_label: str = "",
        cancel_label: str = "",
    ) -> None:
        super().__init__(question)
        self.question = question
        # An enumeration can be called too.
        given = options if isinstance(options, Iterable) else options()
        self.options = tuple(given)
        self.kind = "select" if kind == "text" and self.options else kind
        self.default = default
        self.strict = strict and self.kind != "text"
        self.key = key
        self.asked_by = ""  # the nested call that asks; set by the engine
        self.choices = [_choice(option) for option in self.options]
        if kind == "confirm":
            labels = {"yes": confirm_label, "no": cancel_label}
            self.choices = [
                {"id": own, "label": str(label), "description": ""}
                for own, label in labels.items()
            ]
        self._check()

    def answer(self, answers: Mapping[str, Any]) -> Any:
        """
        Return the answer in `answers`, which are `context.answers`; ask if it lacks.

        Asks again if only the options may be answered, and the chosen one has gone
        meanwhile.
        """
        if self.key not in answers or self.has_lost(answers[self.key]):
            raise self
        return answers[self.key]

    def has_lost(self, answer: Any) -> bool:
        """Return whether `answer`, taken earlier, is no option of this question now."""
        if not self.strict or self.kind == "confirm":
            return False
        ids = {choice["id"] for choice in self.choices}
        return not {*(answer if isinstance(answer, list) else [answer])} <= ids

    def _check(self) -> None:
        ids = [choice["id"] for choice in self.choices]
        if self.kind not in self.KINDS:
            wrong = f"kind {self.kind!r} is unknown. Use one of {', '.join(self.KINDS)}"
        elif self.kind == "confirm" and self.options:
            wrong = (
                "kind 'confirm' takes no options. Use confirm_label and cancel_label"
            )
        elif self.kind != "text" and not ids and self.strict:
            wrong = "there are no options. Give some, or leave out strict"
        elif len(self.key) > self.KEY_CHARS:
            wrong = f"its key is too long. Give at most {self.KEY_CHARS} characters"
        elif len(ids) > self.MOST_OPTIONS:
            wrong = f"{len(ids)} options are too many. Give at most {self.MOST_OPTIONS}"
        elif len(set(ids)) < len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            wrong = f"option {twice!r} is given twice. Give each its own id"
        else:
            return
        raise ValueError(f"Question {self.question!r}: {wrong}.")


def _choice(option: Any) -> dict[str, str]:
    """Return the id, label and description of an option, as texts."""
    fields = option if isinstance(option, Mapping) else _fields(option)
    own, label = fields.get("id", ""), str(fields.get("label", ""))
    own = label if own in ("", None) else str(own)
    return {
        "id": own,
        "label": label or own,
        "description": str(fields.get("description") or ""),
    }


def _fields(option: Any) -> dict[str, Any]:
    if not hasattr(option, "label"):  # a text, or an instance of a model
        return {"id": getattr(option, "pk", ""), "label": option}
    own = getattr(option, "id", getattr(option, "value", ""))  # of TextChoices
    described = getattr(option, "description", "")
    return {"id": own, "label": option.label, "description": described}


# --- for the person, by way of a sentence ---


class ModelError(AssistantError):
    """
    The model could not answer.

    `code` is one of these; `providers.errors` has the sentence for each:

    bad_request (400, the provider does not understand the request), context_too_long
    (400), content_refused (the provider's own filter), bad_key (401), no_access (403),
    no_model (404), rate_limited (429), provider_down (5xx), unreachable (DNS, refused,
    TLS), first_byte_timeout, idle_timeout, total_timeout, cut (the stream ended without
    a finish reason), empty (a finish reason, and nothing before it), malformed (bytes
    that are no answer), not_configured (no model, no key, or no package of the provider),
    blocked_host (the address of a profile of the admin is private), no_agent (the
    conversation's agent is gone, or is not for this user).

    `retry_after_s` is the wait that the provider asked for, or None; `detail` is for
    the log of the operator, never for a page. Only an error before the first token may
    be retried.
    """

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        retry_after_s: float | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail
        self.retry_after_s = retry_after_s
        self.retryable = retryable


class Refused(AssistantError):
    """
    A request of the person cannot be fulfilled now.

    `code` is stable and for programs; the text is a sentence for the person.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ArgumentsMissing(Refused):
    """
    A command needs other arguments than were sent.

    `fields` is what a form asks for; its first problem is the sentence.
    """

    def __init__(self, message: str, name: str, fields: Sequence[Any]) -> None:
        super().__init__("arguments", message)
        self.name = name
        self.fields = fields


class CommandAnswered(Refused):
    """A command has answered itself: there is nothing to send. See CommandAnswer."""

    def __init__(self, name: str, answer: Any) -> None:
        super().__init__("answered", answer.text)
        self.name = name
        self.answer = answer


class Limited(Refused):
    """
    A limit of the site is reached: a budget, or messages in a time.

    `opens_at` is an aware datetime, or None if waiting does not help; `wait_s` says in
    how many seconds that is, 0 if it does not help. `now` is the database's clock.
    """

    def __init__(
        self,
        message: str,
        opens_at: datetime | None = None,
        *,
        now: datetime | None = None,
    ) -> None:
        super().__init__("limited", message)
        self.opens_at = opens_at
        self.wait_s = 0
        if opens_at is not None and now is not None:
            self.wait_s = max(1, ceil((opens_at - now).total_seconds()))


# --- control flow of the engine ---


class Differs(AssistantError):
    """
    The writes of an approved call differ from what the person was shown.

    It was rolled back, and needs a new approval. `changes` are what it would do, as
    changes.values.Changes; None if they have to be computed again.
    """

    def __init__(self, because: str, changes: Any = None) -> None:
        super().__init__(because)
        self.because = because
        self.changes = changes


class LostLease(AssistantError):
    """The run belongs to another owner or epoch: stop at once, write nothing."""


def first_error(raised: Exception) -> Exception:
    """Return the error itself, also out of a group of tasks."""
    while isinstance(raised, ExceptionGroup):
        raised = raised.exceptions[0]
    return raised
