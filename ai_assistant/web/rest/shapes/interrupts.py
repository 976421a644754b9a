from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from pydantic import Field

from ai_assistant.changes.values import FieldChange, ObjectChange, readable
from ai_assistant.engine.interrupts import FOR_A_PERSON
from ai_assistant.engine.questions import kind_of, options_of
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.registry import registry
from ai_assistant.render.html.hidden import looks_like
from ai_assistant.web.rest.shapes.base import JSON, Page, Shape, one_of


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

    kind: str = Field(description="create, change, delete, link or action")
    model: str = Field(examples=["shop.order"])
    object_id: str = Field(description="Empty if it is not there yet.")
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
    total: int = Field(description="Objects in all; `objects` are the first of them.")
    objects: list[ObjectShape]
    related: list[RelatedShape]
    warnings: list[str]
    undoable: bool
    chooses_rows: bool = Field(
        description="Some of `objects` may be approved alone: `rows` of the answer."
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
    strict: bool = Field(description="Only the options may be answered.")
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
        description="What an answer must carry; only of an open approval or question, "
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
    is_told = may_answer and is_open and row.kind in FOR_A_PERSON
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
        importance=(tool.importance or "") if tool else "",
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
    changes = readable(row.proposal)
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
    if row.kind != Interrupt.Kind.QUESTION:
        return None
    return QuestionShape(
        text=row.question,
        kind=kind_of(row),
        options=[OptionShape(**one) for one in options_of(row)],
        strict=row.strict,
        default=row.default,
    )
