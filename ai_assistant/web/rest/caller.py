"""The caller: where everything is, what they may call, and what they have used."""

from collections.abc import Collection, Iterable
from typing import Any, ClassVar

from django.db.models import Count, Sum
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.configuration.setup import resolve
from ai_assistant.models.token import AccessToken
from ai_assistant.models.usage import UsageLedger
from ai_assistant.modules.base import ContextModule, tool_name
from ai_assistant.modules.resolve import NO_RUN
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import may_call, may_use
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.tools.arguments import function_schema, schema_error
from ai_assistant.types import RunContext, ToolDefinition
from ai_assistant.types.hook import Hook
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


class ToolSerializer(ReadSerializer):
    """A tool that the user may call."""

    name = serializers.CharField()
    label = serializers.CharField(source="display.label")
    description = serializers.CharField()
    effect = serializers.CharField(help_text="read, ui, write or destructive")
    policy = serializers.SerializerMethodField(
        help_text="`allow` or `ask`: whether each call waits for a person"
    )
    background = serializers.BooleanField(source="execution.background")
    browser = serializers.BooleanField(
        source="execution.browser", help_text="It is executed by a page."
    )
    parameters = serializers.SerializerMethodField(help_text="A JSON Schema.")

    def get_policy(self, tool: ToolDefinition) -> str:
        return tool_verdict(tool, user=self.context["user"]).decision

    def get_parameters(self, tool: ToolDefinition) -> dict[str, Any]:
        parameters: dict[str, Any] = function_schema(tool)["function"]["parameters"]
        return parameters


class ModuleSerializer(ReadSerializer):
    """What the assistant is on some pages."""

    id = serializers.CharField(source="module.id")
    label = serializers.CharField(source="module.label")
    matches = serializers.ListField(
        child=serializers.CharField(),
        source="module.matches",
        help_text="Names of views; `*` matches anything.",
    )
    tools = serializers.ListField(
        child=serializers.CharField(),
        help_text="Those of its tools that the user may call.",
    )


class HookSerializer(ReadSerializer):
    """Code of the site that watches runs, or changes them."""

    name = serializers.CharField()
    point = serializers.CharField()
    where = serializers.CharField(help_text="Where it applies, in words.")
    guard = serializers.BooleanField(help_text="It refuses if it fails.")
    origin = serializers.SerializerMethodField(
        help_text="The module that registered it; empty for who is no superuser."
    )

    def get_origin(self, hook: Hook) -> str:
        return hook.origin if self.context["user"].is_superuser else ""


class RegisteredSerializer(ReadSerializer):
    """What the site's apps have registered, as far as the user may call it."""

    context = serializers.ListField(child=serializers.CharField())
    tools = ToolSerializer(many=True)
    commands = serializers.ListField(child=serializers.CharField())
    skills = serializers.ListField(child=serializers.CharField())
    instructions = serializers.ListField(child=serializers.CharField())
    hooks = HookSerializer(many=True)
    modules = ModuleSerializer(many=True)
    agents = serializers.ListField(child=serializers.CharField())
    suggestions = serializers.ListField(child=serializers.CharField())


class RootSerializer(ReadSerializer):
    """Where everything is, and what the caller may do."""

    user = serializers.CharField()
    scopes = serializers.ListField(
        child=serializers.CharField(),
        help_text="What the caller may do: read, run, approve.",
    )
    addresses = serializers.DictField(child=serializers.CharField())


class RegistryView(ApiView):
    """What is registered for the user."""

    @operation(id="registry_read", answers={200: RegisteredSerializer})
    def get(self, request: Request) -> Response:
        """
        Read what the user may call.

        Tools by permission and policy; a page may offer fewer of them. Modules of which
        the user may call no tool are left out, with their suggestions.
        """
        tools = list(_tools(request.user))
        modules = list(_modules({tool.name for tool in tools}))
        suggestions = {
            str(text) for module, _may in modules for text in module.suggestions
        }
        values = {
            "context": sorted(registry.contexts()),
            "tools": tools,
            "modules": [{"module": module, "tools": may} for module, may in modules],
            "suggestions": sorted(suggestions),
        }
        setup = resolve(
            RunContext(user=request.user, run_id=NO_RUN, conversation_id=NO_RUN)
        )
        values |= {
            "skills": sorted(setup.skills),
            "commands": sorted(setup.commands),
            "agents": sorted(setup.agents),
            "hooks": registry.hooks(),
        }
        values["instructions"] = [one.name for one in setup.instructions]
        return Response(
            RegisteredSerializer(values, context={"user": request.user}).data
        )


def _tools(user: Any) -> Iterable[ToolDefinition]:
    for _name, tool in sorted(registry.tools().items()):
        if tool.display.renders_only or schema_error(tool) or not may_call(user, tool):
            continue
        if tool_verdict(tool, user=user).decision != "deny":
            yield tool


def _modules(callable_: Collection[str]) -> Iterable[tuple[ContextModule, list[str]]]:
    """Return the modules of which something can be called, with the names of that."""
    for _id, module in sorted(registry.modules().items()):
        names = [tool_name(tool) for tool in module.tools]
        may = [name for name in names if name in callable_]
        if may or not names:
            yield module, may


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
