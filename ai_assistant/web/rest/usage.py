from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet, Sum
from pydantic import AwareDatetime
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.models.usage import UsageLedger
from ai_assistant.types import UserKey
from ai_assistant.web.rest.base import ApiView, answered, user_key
from ai_assistant.web.rest.operation import operation
from ai_assistant.web.rest.paging import PageQuery, page_of
from ai_assistant.web.rest.reading import Query, read_query
from ai_assistant.web.rest.shapes.base import in_time
from ai_assistant.web.rest.shapes.usage import (
    ModelUsage,
    UsagePage,
    UsageSums,
    usage_shapes,
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
        "List the own model calls",
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
        "Sum up the own model calls",
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
