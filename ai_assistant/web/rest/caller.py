"""The caller: where everything is, what they may call, and what they have used."""

from typing import Any, ClassVar

from django.db.models import Count, Sum
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.models.token import AccessToken
from ai_assistant.models.usage import UsageLedger
from ai_assistant.safety.identity.permissions import may_use
from ai_assistant.web.rest import lists
from ai_assistant.web.rest.base import (
    ApiView,
    ApiViewSet,
    caller_of,
    operation,
    user_key,
)
from ai_assistant.web.rest.routes import api_reverse
from ai_assistant.web.rest.serializers import Money, ReadModelSerializer, ReadSerializer


class RootSerializer(ReadSerializer):
    """Where everything is, and what the caller may do."""

    user = serializers.CharField()
    scopes = serializers.ListField(
        child=serializers.CharField(),
        help_text="What the caller may do: read, run, approve.",
    )
    addresses = serializers.DictField(child=serializers.CharField())


LISTS = {
    **{name: f"{name}-list" for name in ("conversations", "runs", "interrupts")},
    **{name: f"{name}-list" for name in ("calls", "changes", "usage")},
    **{name: name for name in ("usage-sums", "registry", "commands", "schema")},
}


class RootView(ApiView):
    """Where everything is."""

    @operation(id="root_read", answers={200: RootSerializer})
    def get(self, request: Request) -> Response:
        """List the URLs of the API."""
        caller = caller_of(request)
        scopes = [
            scope
            for scope in AccessToken.Scope.values
            if caller.has_scope(scope)
            and (scope == AccessToken.Scope.READ or may_use(caller.user))
        ]
        addresses = {
            name: request.build_absolute_uri(api_reverse(view))
            for name, view in LISTS.items()
        }
        values = {"user": caller.user.get_username(), "scopes": scopes}
        return Response(RootSerializer({**values, "addresses": addresses}).data)


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
            "run": {"help_text": "Null if it was deleted, or of suggestions."},
            "tokens": {"help_text": "The tokens that count against budgets."},
            "cost_usd": {"help_text": "Null if its price is not known."},
        }


class SumsSerializer(ReadSerializer):
    """Tokens, money and calls."""

    tokens = serializers.IntegerField(
        help_text="The tokens that count against budgets."
    )
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    cached_tokens = serializers.IntegerField()
    reasoning_tokens = serializers.IntegerField()
    cost_usd = Money(allow_null=True, help_text="Null if its price is not known.")
    calls = serializers.IntegerField()
    unpriced_calls = serializers.IntegerField(help_text="Calls of unknown price.")


class ModelUsageSerializer(SumsSerializer):
    """What one model has used."""

    model = serializers.CharField()


class UsageSumsSerializer(SumsSerializer):
    """What all model calls together have used."""

    by_model = ModelUsageSerializer(many=True)


class UsageFilter(lists.FilterSet):
    run = lists.UUIDFilter()
    conversation = lists.UUIDFilter("run__conversation_id")
    since = lists.MomentFilter("created_at", "gte")
    until = lists.MomentFilter("created_at", "lt")


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
        """Sum up your model calls."""
        rows = self.filter_queryset(self.get_queryset())
        by_model = rows.order_by("model").values("model").annotate(**_sums())
        totals = _usage_sums(rows.aggregate(**_sums()))
        models = [{"model": row["model"], **_usage_sums(row)} for row in by_model]
        return Response(UsageSumsSerializer({**totals, "by_model": models}).data)


def _sums() -> dict[str, Any]:
    return {
        **{f"sum_{name}": Sum(name) for name in TOKENS},
        "cost": Sum("cost_usd"),
        "calls": Count("pk"),
        "priced": Count("cost_usd"),
    }


def _usage_sums(sums: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: sums[f"sum_{name}"] or 0 for name in TOKENS},
        "cost_usd": sums["cost"],
        "calls": sums["calls"],
        "unpriced_calls": sums["calls"] - sums["priced"],
    }
