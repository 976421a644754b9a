from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.changes.values import FieldChange, ObjectChange, stored_changes
from ai_assistant.engine.queries import get_or_404, interrupts
from ai_assistant.engine.service import (
    ANSWER_CHARS,
    Answer,
    answer,
    clean_text,
    kind_names,
    kind_of,
    options_of,
)
from ai_assistant.exceptions import Ask
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.registry import registry
from ai_assistant.text.hidden_characters import looks_like
from ai_assistant.web.panel.fields import MOST_ROWS
from ai_assistant.web.rest.base import ApiView, Scope, answered, caller_of, user_key
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import Body, Query, carry_out, read_body, read_query
from ai_assistant.web.rest.shapes import JSON, Page, Shape, one_of, operation


class FieldShape(Shape):
    """One field of one object, as texts for a person."""

    name: str
    label: str
    before: str
    after: str
    looks_alike: bool = Field(
        description="Both look the same, but their characters differ: show them."
    )


class ObjectShape(Shape):
    """One object that is made, changed, deleted or acted upon."""

    kind: str = Field(description="`create`, `change`, `delete`, `link` or `action`")
    model: str = Field(examples=["shop.order"])
    object_id: str = Field(description="Empty if it does not exist yet.")
    text: str
    fields: list[FieldShape]


class RelatedShape(Shape):
    """Objects that go along, as the cascade of a delete."""

    model: str
    label: str
    kind: str
    count: int
    texts: list[str]


class ProposalShape(Shape):
    """The true difference that a call would make, computed by the server."""

    title: str
    verb: str
    model: str
    total: int = Field(description="How many there are; `objects` has the first.")
    objects: list[ObjectShape]
    related: list[RelatedShape]
    warnings: list[str]
    undoable: bool
    chooses_rows: bool = Field(
        description="Some of `objects` may be approved alone: see `rows` of the answer."
    )


class OptionShape(Shape):
    """One of the answers that a question offers."""

    id: str
    label: str
    description: str


class QuestionShape(Shape):
    """What a tool asks."""

    text: str
    kind: str = one_of(Interrupt.QuestionKind)
    options: list[OptionShape]
    strict: bool = Field(description="Only the options are accepted as answers.")
    default: JSON


class InterruptShape(Shape):
    """Why a call waits."""

    id: UUID
    run: UUID
    conversation: UUID
    call: UUID
    kind: str = one_of(Interrupt.Kind)
    status: str = one_of(Interrupt.Status)
    nonce: str | None = Field(
        description="What an answer must include; only for an open approval or question, "
        "and for those who may answer."
    )
    tool: str
    label: str
    effect: str
    arguments: dict[str, JSON]
    because: str = Field(description="Why it has to be approved.")
    importance: str
    proposal: ProposalShape | None
    question: QuestionShape | None
    answer: JSON
    created_at: datetime
    decided_at: datetime | None
    expires_at: datetime | None


class InterruptPage(Page[InterruptShape]):
    """Interrupts, the newest first."""


def interrupt_shapes(
    rows: Iterable[Interrupt], *, may_answer: bool
) -> list[InterruptShape]:
    """Return rows that were read with their call and run."""
    return [interrupt_shape(row, may_answer=may_answer) for row in rows]


def interrupt_shape(row: Interrupt, *, may_answer: bool) -> InterruptShape:
    """Return an interrupt, with what a person has to see before they answer."""
    call = row.call
    tool = registry.tool(call.name)
    is_open = row.status == Interrupt.Status.OPEN
    is_told = may_answer and is_open and row.kind in kind_names(for_person=True)
    return InterruptShape(
        id=row.pk,
        run=row.run_id,
        conversation=row.run.conversation_id,
        call=row.call_id,
        kind=row.kind,
        status=row.status,
        nonce=row.nonce if is_told else None,
        tool=call.name,
        label=call.label or call.name,
        effect=call.effect,
        arguments=call.arguments,
        because=call.asks_because,
        importance=(tool.display.importance or "") if tool else "",
        proposal=_proposal(row),
        question=_question(row),
        answer=row.answer,
        created_at=row.created_at,
        decided_at=row.decided_at,
        expires_at=row.expires_at,
    )


def object_shape(one: ObjectChange) -> ObjectShape:
    """Return one object; what a field holds behind its texts is left out."""
    return ObjectShape(
        kind=one.kind,
        model=one.model,
        object_id=one.object_id,
        text=one.text,
        fields=[_field(field) for field in one.fields],
    )


def _field(one: FieldChange) -> FieldShape:
    return FieldShape(
        name=one.name,
        label=one.label,
        before=one.before,
        after=one.after,
        looks_alike=looks_like(one.before, one.after),
    )


def _proposal(row: Interrupt) -> ProposalShape | None:
    changes = stored_changes(row.proposal)
    if changes is None:
        return None
    return ProposalShape(
        title=changes.title,
        verb=changes.verb or changes.title,
        model=changes.model,
        total=changes.total,
        objects=[object_shape(one) for one in changes.objects],
        related=[
            RelatedShape(
                model=one.model,
                label=one.label,
                kind=one.kind,
                count=one.count,
                texts=list(one.texts),
            )
            for one in changes.related
        ],
        warnings=list(changes.warnings),
        undoable=changes.undoable,
        chooses_rows=bool(changes.rows_argument),
    )


def _question(row: Interrupt) -> QuestionShape | None:
    if not (row.question or row.key):
        return None
    return QuestionShape(
        text=row.question,
        kind=kind_of(row),
        options=[OptionShape(**one) for one in options_of(row)],
        strict=row.strict,
        default=row.default,
    )


# No control characters: one of the databases cannot store them all.
ObjectId = Annotated[
    str, StringConstraints(min_length=1, max_length=255, pattern=r"^[^\x00-\x1f\x7f]*$")
]
# Which fields belong to which decision.
BELONGS = {
    "approve": {"rows"},
    "approve_for_run": {"rows"},
    "deny": {"reason"},
    "answer": {"answer", "chosen"},
    "skip": set(),
}


class InterruptsQuery(PageQuery):
    """Which interrupts."""

    open: bool | None = Field(None, description="Those that are open, or the others.")
    kind: Interrupt.Kind | None = one_of(Interrupt.Kind, default=None)
    run: UUID | None = None
    conversation: UUID | None = None


class AnswerBody(Body):
    """What a person says to a call that waits."""

    nonce: str = Field(
        min_length=1, max_length=64, description="The value that the interrupt has."
    )
    decision: Literal["approve", "approve_for_run", "deny", "answer", "skip"] = Field(
        description="`approve`, `approve_for_run` (the same tool on the same model need "
        "not ask again in this run) or `deny` an approval; `answer` or `skip` a question."
    )
    reason: str = Field(
        "", max_length=ANSWER_CHARS, description="Of `deny`; it is told to the model."
    )
    rows: list[ObjectId] | None = Field(
        None,
        max_length=MOST_ROWS,
        description="Of `approve`: the `object_id` of the objects to approve.",
    )
    answer: str = Field(
        "",
        max_length=ANSWER_CHARS,
        description="Of `answer`: a text, the id of an option, or `yes` or `no`.",
    )
    chosen: list[str] = Field(
        default=[],
        max_length=Ask.MOST_OPTIONS,
        description="Of `answer`: the ids of options, if the question takes several.",
    )

    @model_validator(mode="after")
    def check_fields(self) -> Self:
        """Refuse fields that the decision has no use for."""
        given = {name for name in ("reason", "answer", "chosen") if getattr(self, name)}
        given |= {"rows"} if self.rows is not None else set()
        if foreign := sorted(given - BELONGS[self.decision]):
            raise ValueError(f"{foreign[0]!r} does not belong to {self.decision!r}")
        return self


class InterruptsView(ApiView):
    """Why the own runs wait."""

    @operation(
        "interrupts_list",
        "List what your runs are waiting for",
        query=InterruptsQuery,
        answers={200: InterruptPage},
    )
    def get(self, request: Request) -> Response:
        """Return a page of interrupts."""
        query = read_query(request, InterruptsQuery)
        rows = interrupts(user_key(request))
        if query.open is not None:
            waiting = rows.filter(status=Interrupt.Status.OPEN)
            other = rows.exclude(status=Interrupt.Status.OPEN)
            rows = waiting if query.open else other
        if query.kind is not None:
            rows = rows.filter(kind=query.kind)
        if query.run is not None:
            rows = rows.filter(run_id=query.run)
        if query.conversation is not None:
            rows = rows.filter(run__conversation_id=query.conversation)
        shapes = partial(interrupt_shapes, may_answer=_may_answer(request))
        page = page_of(request, rows, "-created_at", InterruptPage, shapes)
        return answered(page)


class InterruptView(ApiView):
    """Why one call waits."""

    @operation(
        "interrupts_read",
        "Read what a call is waiting for",
        about="Show a person the whole `proposal` before they approve.",
        query=Query,
        answers={200: InterruptShape},
        problems=("not_found",),
    )
    def get(self, request: Request, id: UUID) -> Response:
        """Return an interrupt."""
        read_query(request, Query)
        return answered(_own_interrupt(request, id))


class AnswerView(ApiView):
    """Answers a call that waits."""

    write_scope = Scope.APPROVE

    @operation(
        "interrupts_answer",
        "Approve, deny or answer",
        about="The first answer counts. An approved call is executed only if it would "
        "still do what was shown.",
        body=AnswerBody,
        answers={200: InterruptShape},
        problems=(
            *("not_found", "already_answered", "stale", "expired", "policy"),
            *("empty", "wrong_answer", "bad_decision", "no_rows", "not_for_run"),
            "binary",
        ),
        example={"nonce": "q9Yv…", "decision": "deny", "reason": "Not this customer."},
    )
    def post(self, request: Request, id: UUID) -> Response:
        """Record the answer, let the run go on, and return the interrupt."""
        body = read_body(request, AnswerBody)
        _own_interrupt(request, id)
        caller = caller_of(request)
        given = Answer(
            user_id=caller.user.pk,
            interrupt_id=id,
            nonce=body.nonce,
            decision="" if body.decision == "answer" else body.decision,
            rows=None if body.rows is None else tuple(body.rows),
            text=_text(body.answer or body.reason),
            chosen=tuple(_text(one) for one in body.chosen if one.strip()),
            stamp=caller.stamp,
        )
        carry_out(answer(given))
        return answered(_own_interrupt(request, id))


def _text(said: str) -> str:
    return clean_text(said, ANSWER_CHARS) if said.strip() else ""


def _may_answer(request: Request) -> bool:
    return caller_of(request).has_scope(Scope.APPROVE)


def _own_interrupt(request: Request, interrupt_id: UUID) -> InterruptShape:
    row = get_or_404(interrupts(user_key(request)), interrupt_id)
    return interrupt_shape(row, may_answer=_may_answer(request))
