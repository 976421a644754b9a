"""The card of each kind of interrupt: while it waits, and on its call's card later."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.utils.translation import gettext as _

from ai_assistant.changes.stored import stored_changes
from ai_assistant.engine.interrupts.browser import open_requests
from ai_assistant.engine.interrupts.question import kind_of, options_of
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.render.html.cards.approval import arguments_of, proposal_entry
from ai_assistant.render.html.diffs.differences import Entry, difference_entry

STATUS = Interrupt.Status


class Card:
    """
    The card of one kind of interrupt: a question that is answered by a text.

    `template` gets what `entry` returns as `item`, with the id, nonce and call.
    """

    template = "ai_assistant/question.html"
    closed_as: tuple[str, ...] = (STATUS.ANSWERED,)  # shown on the card of the call

    def entry(self, interrupt: Interrupt) -> Entry:
        """Return what the template draws besides id, nonce and call."""
        return {"text": interrupt.question, "question": "text"}

    def labels(self, interrupt: Interrupt) -> list[str]:
        """Return the answer as the person saw it."""
        return [str(interrupt.answer)]


class QuestionCard(Card):
    """A question with its options."""

    def entry(self, interrupt: Interrupt) -> Entry:
        """Return the question, and which of its answers are proposed."""
        default = interrupt.default
        proposed = default if isinstance(default, list) else [default]
        if isinstance(default, bool):
            proposed = ["yes" if default else "no"]
        options = options_of(interrupt)
        ids = {option["id"] for option in options}
        free = (str(one) for one in proposed if one and one not in ids)
        return {
            "text": interrupt.question,
            "question": kind_of(interrupt),
            "options": [{**one, "proposed": one["id"] in proposed} for one in options],
            "strict": interrupt.strict,
            "proposed": ", ".join(free),
        }

    def labels(self, interrupt: Interrupt) -> list[str]:
        """Return the labels of the options that were chosen, or what was written."""
        answer = interrupt.answer
        if isinstance(answer, bool):
            answer = "yes" if answer else "no"
        labels = {one["id"]: one["label"] for one in options_of(interrupt)}
        given = answer if isinstance(answer, list) else [answer]
        return [labels.get(one, one) for one in map(str, given)]


class ApprovalCard(Card):
    """The changes that a call would make, with the ways to decide."""

    template = "ai_assistant/approval.html"
    closed_as = (STATUS.APPROVED, STATUS.DENIED, STATUS.EXPIRED)

    def entry(self, interrupt: Interrupt) -> Entry:
        """Return the difference and the arguments."""
        return {**proposal_entry(interrupt), "arguments": arguments_of(interrupt)}


# By the name of the kind; one that is not here is drawn as a question.
CARDS: dict[str, Card] = {
    Interrupt.Kind.APPROVAL: ApprovalCard(),
    Interrupt.Kind.QUESTION: QuestionCard(),
}
PLAIN = Card()


def card_of(interrupt: Interrupt) -> Card:
    """Return how an interrupt is drawn."""
    return CARDS.get(interrupt.kind, PLAIN)


def answers_of(call: ToolCall) -> list[dict[str, Any]]:
    """Return the questions of a call in order, with the answers in words."""
    return [
        {"question": one.question, "labels": card_of(one).labels(one)}
        for one in _loaded(call)
        if one.status == STATUS.ANSWERED
    ]


def is_of_page(call: ToolCall) -> bool:
    """Return whether the call waits for nobody: the page is carrying it out."""
    of_page = (Interrupt.Kind.BROWSER, STATUS.OPEN)
    return any((one.kind, one.status) == of_page for one in _loaded(call))


def last_decision(call: ToolCall) -> Interrupt | None:
    """Return the last approval of a call that was decided, or None."""
    decided = [one for one in _loaded(call) if one.status in ApprovalCard.closed_as]
    return max(decided, key=lambda one: one.decided_at or one.created_at, default=None)


def decision_of(call: ToolCall) -> Entry | None:
    """Return the context of `approval_done.html` for the last decision, or None."""
    last = last_decision(call)
    if last is None:
        return None
    changes = stored_changes(last.proposal)
    reason = last.answer if last.status == STATUS.DENIED else ""
    return {
        "id": str(call.pk),
        "sentence": _sentence(last),
        "reason": reason if isinstance(reason, str) else "",
        "diff": difference_entry(changes, f"interrupt={last.pk}") if changes else None,
    }


def _sentence(decided: Interrupt) -> str:
    """Return what became of it; who decides is who reads it."""
    if decided.status == STATUS.EXPIRED:
        return _("Nobody decided in time")
    if decided.status == STATUS.DENIED:
        return _("You denied this")
    said = decided.answer if isinstance(decided.answer, dict) else {}
    if said.get("granted"):
        return _("You allowed this for the answer")
    if said.get("edited"):
        return _("You edited and approved this")
    if said.get("rows") is not None:
        return _("You approved this, for chosen rows")
    return _("You approved this")


ATTRIBUTE = "loaded"  # of a call; in none that was read for another purpose
DRAWN = (
    *("call", "kind", "status", "question", "question_kind", "options", "answer"),
    *("proposal", "decided_at", "created_at"),
)


def with_interrupts(calls: QuerySet[ToolCall]) -> QuerySet[ToolCall]:
    """Let answers, decisions and what a page does be read with many calls at once."""
    wanted = Q(status__in=PLAIN.closed_as)
    wanted |= Q(kind=Interrupt.Kind.BROWSER, status=STATUS.OPEN)
    for kind, card in CARDS.items():
        wanted |= Q(kind=kind, status__in=card.closed_as)
    drawn = Interrupt.objects.filter(wanted).order_by("created_at").only(*DRAWN)
    return calls.prefetch_related(
        Prefetch("interrupts", queryset=drawn, to_attr=ATTRIBUTE)
    )


def _loaded(call: ToolCall) -> Sequence[Interrupt]:
    return getattr(call, ATTRIBUTE, ())


def requests_to_page(run: Run) -> list[list[Any]]:
    """Return an operation for each request of `run`; a page takes each once."""
    if run.is_final:
        return []
    return [["tell", "browser", _said(interrupt)] for interrupt in open_requests(run)]


def _said(interrupt: Interrupt) -> dict[str, object]:
    return {
        "interrupt": str(interrupt.pk),
        "nonce": interrupt.nonce,
        "name": interrupt.request["name"],
        "arguments": interrupt.request["arguments"],
    }
