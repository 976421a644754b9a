from functools import partial
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.engine.interrupts import ANSWER_CHARS, Answer
from ai_assistant.engine.service import answer
from ai_assistant.engine.start import clean_text
from ai_assistant.exceptions import Ask, Refused
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.web.fields import MOST_ROWS
from ai_assistant.web.rest.base import ApiView, Scope, answered, caller_of, user_key
from ai_assistant.web.rest.carrying import carry_out
from ai_assistant.web.rest.operation import operation
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import Body, Query, read_body, read_query
from ai_assistant.web.rest.shapes.base import one_of
from ai_assistant.web.rest.shapes.interrupts import (
    InterruptPage,
    InterruptShape,
    interrupt_shape,
    interrupt_shapes,
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

    open: bool | None = Field(None, description="Those that still wait, or the others.")
    kind: Interrupt.Kind | None = one_of(Interrupt.Kind, default=None)
    run: UUID | None = None
    conversation: UUID | None = None


class AnswerBody(Body):
    """What a person says to a call that waits."""

    nonce: str = Field(
        min_length=1, max_length=64, description="As it stands in the interrupt."
    )
    decision: Literal["approve", "approve_for_run", "deny", "answer", "skip"] = Field(
        description="`approve`, `approve_for_run` (the same tool on the same model need "
        "not ask again in this run) or `deny` an approval; `answer` or `skip` a question."
    )
    reason: str = Field(
        "", max_length=ANSWER_CHARS, description="Of `deny`; the model is told of it."
    )
    rows: list[ObjectId] | None = Field(
        None,
        max_length=MOST_ROWS,
        description="Of `approve`: the `object_id` of those objects that are meant.",
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
        "List what the own runs wait for",
        query=InterruptsQuery,
        answers={200: InterruptPage},
    )
    def get(self, request: Request) -> Response:
        """Return a page of interrupts."""
        query = read_query(request, InterruptsQuery)
        rows = Interrupt.objects.filter(
            run__user_id=user_key(request), run__conversation__deleted_at=None
        )
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
        rows = rows.select_related("run", "call")
        shapes = partial(interrupt_shapes, may_answer=_may_answer(request))
        page = page_of(request, rows, "-created_at", InterruptPage, shapes)
        return answered(page)


class InterruptView(ApiView):
    """Why one call waits."""

    @operation(
        "interrupts_read",
        "Read what a call waits for",
        about="Show a person the whole `proposal` before they approve.",
        query=Query,
        answers={200: InterruptShape},
        problems=("not_found",),
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - of the address
        """Return an interrupt."""
        read_query(request, Query)
        return answered(_own_interrupt(request, id))


class AnswerView(ApiView):
    """Answers a call that waits."""

    write_scope = Scope.APPROVE

    @operation(
        "interrupts_answer",
        "Approve, deny or answer",
        about="The first answer counts. What was approved is carried out only if it "
        "is still what was shown.",
        body=AnswerBody,
        answers={200: InterruptShape},
        problems=(
            *("not_found", "already_answered", "stale", "expired", "policy"),
            *("empty", "wrong_answer", "bad_decision", "no_rows", "not_for_run"),
            "binary",
        ),
        example={"nonce": "q9Yv…", "decision": "deny", "reason": "Not this customer."},
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
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
    rows = Interrupt.objects.select_related("run", "call")
    found = rows.filter(
        pk=interrupt_id,
        run__user_id=user_key(request),
        run__conversation__deleted_at=None,
    ).first()
    if found is None:
        raise Refused("not_found", "")
    return interrupt_shape(found, may_answer=_may_answer(request))
