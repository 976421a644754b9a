from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from pydantic import Field

from ai_assistant.models.usage import UsageLedger
from ai_assistant.web.rest.shapes.base import Page, Shape, one_of


class TokensShape(Shape):
    """Tokens and money."""

    tokens: int = Field(description="What counts against budgets.")
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost_usd: Decimal | None = Field(description="Null if no price is known.")


class UsageShape(TokensShape):
    """One model call."""

    id: int
    run: UUID | None = Field(description="Null if it was deleted.")
    conversation: UUID | None
    profile: str
    model: str
    state: str = one_of(UsageLedger.State)
    created_at: datetime


class UsagePage(Page[UsageShape]):
    """Model calls, the newest first."""


class ModelUsage(TokensShape):
    """What one model has used."""

    model: str
    calls: int
    unpriced_calls: int = Field(description="Of which no price is known.")


class UsageSums(TokensShape):
    """What all model calls together have used."""

    calls: int
    unpriced_calls: int
    by_model: list[ModelUsage]


def usage_shapes(rows: Iterable[UsageLedger]) -> Iterable[UsageShape]:
    """Return rows that were read with their run."""
    for row in rows:
        yield UsageShape(
            id=row.pk,
            run=row.run_id,
            conversation=row.run.conversation_id if row.run else None,
            profile=row.profile,
            model=row.model,
            state=row.state,
            tokens=row.tokens,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            cached_tokens=row.cached_tokens,
            reasoning_tokens=row.reasoning_tokens,
            cost_usd=row.cost_usd,
            created_at=row.created_at,
        )
