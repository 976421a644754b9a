from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet, Sum
from pydantic import AwareDatetime, Field
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.models.usage import UsageLedger
from ai_assistant.types import UserKey
from ai_assistant.web.rest.base import ApiView, answered, user_key
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import Query, read_query
from ai_assistant.web.rest.shapes import Page, Shape, in_time, one_of, operation


class TokensShape(Shape):
    """Tokens and money."""

    tokens: int = Field(description="The tokens that count against budgets.")
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost_usd: Decimal | None = Field(description="Null if its price is not known.")


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
    unpriced_calls: int = Field(description="Calls of unknown price.")


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


TOKENS = (
    *("tokens", "input_tokens", "output_tokens", "cached_tokens"),
    "reasoning_tokens",
)


class WhichUsage(Query):
    """Which model calls."""

    run: UUID | None = None
    conversation: UUID | None = None
    since: AwareDatetime | None = in_time()
    until: AwareDatetime | None = in_time()


class UsageQuery(PageQuery, WhichUsage):
    """Which model calls, and which page of them."""


class UsageView(ApiView):
    """What the user has used."""

    @operation(
        "usage_list",
        "List your model calls",
        query=UsageQuery,
        answers={200: UsagePage},
    )
    def get(self, request: Request) -> Response:
        """Return a page of model calls."""
        rows = _chosen(user_key(request), read_query(request, UsageQuery))
        rows = rows.select_related("run")
        return answered(page_of(request, rows, "-created_at", UsagePage, usage_shapes))


class UsageSumsView(ApiView):
    """How much that is together."""

    @operation(
        "usage_sums",
        "Sum up your model calls",
        query=WhichUsage,
        answers={200: UsageSums},
    )
    def get(self, request: Request) -> Response:
        """Return the sums, of all calls and of each model."""
        rows = _chosen(user_key(request), read_query(request, WhichUsage))
        by_model = rows.order_by("model").values("model")
        models = by_model.annotate(**_sums())
        return answered(
            UsageSums(
                **_told(rows.aggregate(**_sums())),
                by_model=[
                    ModelUsage(model=one["model"], **_told(dict(one))) for one in models
                ],
            )
        )


def _chosen(user_id: UserKey, query: WhichUsage) -> QuerySet[UsageLedger, Any]:
    rows = UsageLedger.objects.filter(user_id=user_id)
    if query.run is not None:
        rows = rows.filter(run_id=query.run)
    if query.conversation is not None:
        rows = rows.filter(run__conversation_id=query.conversation)
    if query.since is not None:
        rows = rows.filter(created_at__gte=query.since)
    if query.until is not None:
        rows = rows.filter(created_at__lt=query.until)
    return rows


def _sums() -> dict[str, Any]:
    return {
        **{f"sum_{name}": Sum(name) for name in TOKENS},
        "cost": Sum("cost_usd"),
        "calls": Count("pk"),
        "priced": Count("cost_usd"),
    }


def _told(found: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: found[f"sum_{name}"] or 0 for name in TOKENS},
        "cost_usd": found["cost"],
        "calls": found["calls"],
        "unpriced_calls": found["calls"] - found["priced"],
    }
