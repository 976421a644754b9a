from typing import Any, ClassVar

from django.db.models import Count, Sum
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.models.usage import UsageLedger
from ai_assistant.web.rest.base import ApiViewSet, operation, user_key
from ai_assistant.web.rest.lists import FilterSet, MomentFilter, UUIDFilter
from ai_assistant.web.rest.serializers import Money, ReadModelSerializer, ReadSerializer

TOKENS = (
    *("tokens", "input_tokens", "output_tokens", "cached_tokens"),
    "reasoning_tokens",
)


class UsageSerializer(ReadModelSerializer):
    """One model call."""

    conversation = serializers.UUIDField(source="run.conversation_id", allow_null=True)

    class Meta:
        model = UsageLedger
        fields = (
            *("id", "run", "conversation", "profile", "model", "state"),
            *(*TOKENS, "cost_usd", "created_at"),
        )
        extra_kwargs: ClassVar = {
            "run": {"help_text": "Null if it was deleted."},
            "tokens": {"help_text": "What counts against budgets."},
            "cost_usd": {"help_text": "Null if no price is known."},
        }


class SumsSerializer(ReadSerializer):
    """Tokens, money and calls."""

    tokens = serializers.IntegerField(help_text="What counts against budgets.")
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    cached_tokens = serializers.IntegerField()
    reasoning_tokens = serializers.IntegerField()
    cost_usd = Money(allow_null=True, help_text="Null if no price is known.")
    calls = serializers.IntegerField()
    unpriced_calls = serializers.IntegerField(help_text="Of which no price is known.")


class ModelUsageSerializer(SumsSerializer):
    """What one model has used."""

    model = serializers.CharField()


class UsageSumsSerializer(SumsSerializer):
    """What all model calls together have used."""

    by_model = ModelUsageSerializer(many=True)


class UsageFilter(FilterSet):
    run = UUIDFilter()
    conversation = UUIDFilter("run__conversation_id")
    since = MomentFilter("created_at", "gte")
    until = MomentFilter("created_at", "lt")


class UsageViewSet(ListModelMixin, ApiViewSet):
    """The own model calls, the newest first."""

    queryset = UsageLedger.objects.none()
    serializer_class = UsageSerializer
    filterset_class = UsageFilter

    def get_queryset(self) -> Any:
        return UsageLedger.objects.filter(user_id=user_key(self.request))

    def filter_queryset(self, queryset: Any) -> Any:
        rows = super().filter_queryset(queryset)
        return rows.select_related("run") if self.action == "list" else rows

    @operation(is_list=True, answers={200: UsageSumsSerializer})
    @action(detail=False)
    def sums(self, request: Request) -> Response:
        """Sum up the own model calls."""
        rows = self.filter_queryset(self.get_queryset())
        by_model = rows.order_by("model").values("model").annotate(**_sums())
        told = _told(rows.aggregate(**_sums()))
        models = [{"model": one["model"], **_told(one)} for one in by_model]
        return Response(UsageSumsSerializer({**told, "by_model": models}).data)


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
