"""What the document tells of a method; the views carry it, and nothing reads it there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from django.db.models import TextChoices
from pydantic import BaseModel, ConfigDict, Field

from ai_assistant.web.rest.reading import Body, Query

F = TypeVar("F", bound=Callable[..., Any])

ATTRIBUTE = "operation"


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """`problems` are the codes that this method may answer beside those of all."""

    id: str
    summary: str
    about: str = ""
    query: type[Query] | None = None
    body: type[Body] | None = None
    takes_key: bool = False  # the header Idempotency-Key
    answers: Mapping[int, type[BaseModel] | None] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    example: Mapping[str, Any] | None = None  # of the body


def operation(
    id: str,
    summary: str,
    **more: Any,
) -> Callable[[F], F]:
    """Describe a method of a view."""

    def describe(method: F) -> F:
        setattr(method, ATTRIBUTE, Operation(id=id, summary=summary, **more))
        return method

    return describe


JSON = Any  # any value of JSON

# Beyond these a moment cannot be told in every time zone.
FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)

T = TypeVar("T")


class Shape(BaseModel):
    """An answer, or a part of one."""

    model_config = ConfigDict(
        frozen=True, json_schema_serialization_defaults_required=True
    )


def in_time() -> Any:
    """Return the field of a moment by which rows are chosen."""
    return Field(None, ge=FIRST, lt=LAST)


def one_of(
    choices: type[TextChoices],
    description: str = "",
    default: Any = ...,
) -> Any:
    """Return the field of a text that is one of `choices`."""
    return Field(
        default,
        description=description or None,
        json_schema_extra={"type": "string", "enum": list(choices.values)},
    )


class Page(Shape, Generic[T]):
    """Some rows of a list."""

    next: str | None = Field(description="The URL of the next page.")
    previous: str | None = Field(description="The URL of the previous page.")
    results: list[T]


class FieldProblem(Shape):
    """What is wrong with one field or parameter."""

    field: str
    detail: str


class Problem(BaseModel):
    """Why a request was refused: RFC 9457, with a code that stays."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(description="The text of the status.", examples=["Not Found"])
    status: int = Field(examples=[404])
    code: str = Field(description="Stable, for programs.", examples=["not_found"])
    detail: str = Field(description="A sentence for a person, in their language.")
    errors: list[FieldProblem] = Field(
        default=[], description="For the code `invalid`: which fields, and why."
    )
