"""What the document tells of a method; the views carry it, and nothing reads it there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

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
    id: str,  # noqa: A002 - as OpenAPI calls it
    summary: str,
    **more: Any,  # noqa: ANN401 - fields of Operation
) -> Callable[[F], F]:
    """Describe a method of a view."""

    def describe(method: F) -> F:
        setattr(method, ATTRIBUTE, Operation(id=id, summary=summary, **more))
        return method

    return describe
