"""What the doctor says of budgets, of programs and of the policy."""

import asyncio
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.db import DatabaseError
from django.db.models import Q

from ai_assistant import conf
from ai_assistant.exceptions import AssistantError, ImproperlyConfiguredAssistant
from ai_assistant.models.clock import Now
from ai_assistant.models.policy import PolicyRule
from ai_assistant.models.token import AccessToken
from ai_assistant.models.usage import Budget
from ai_assistant.modules.resolve import module_ids
from ai_assistant.providers.base import provider_for
from ai_assistant.providers.prices import price_usd
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import may_call
from ai_assistant.safety.policy.policy import meant_by, site_rules, tool_verdict
from ai_assistant.types import ToolDefinition

TOKENS = 1_000  # of which the price is asked, to see whether there is one


def count_of_budgets() -> str:
    """Return how many budgets there are, and where they come from."""
    in_settings, rows = len(conf.get("BUDGETS")), Budget.objects.count()
    if not in_settings and not rows:
        return "none: nothing limits the use of the model but the limits of a run"
    return f"{in_settings} in the settings, {rows} in the admin"


def profile_without_price() -> str:
    """Return the name of a profile that costs nobody knows what, if money is limited."""
    limited = any("usd" in budget for budget in conf.get("BUDGETS"))
    if not limited and not Budget.objects.filter(usd__isnull=False).exists():
        return ""
    return next((name for name in conf.get("PROFILES") if _price(name) is None), "")


def _price(name: str) -> Decimal | None:
    profile = conf.profile(name)
    try:
        provider = provider_for(profile)
        asyncio.run(provider.ready())
        return price_usd(profile, provider, TOKENS, TOKENS)
    except AssistantError:
        return None


def count_of_tokens() -> tuple[int, int]:
    """Return how many tokens are good, and how many of them never expire."""
    lasting = Q(expires_at=None) | Q(expires_at__gt=Now())
    good = AccessToken.objects.filter(lasting, revoked_at=None, user__is_active=True)
    return good.count(), good.filter(expires_at=None).count()


def who_may_call() -> str:
    """Return which pages of other sites may call, in words."""
    origins = conf.get("CORS_ORIGINS")
    return f"with a token: {', '.join(origins)}" if origins else "none may call"


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """What a call of a tool would meet."""

    name: str
    decision: str
    reason: str


def named_user(name: str) -> Any:
    """Return the user of that name, None for no name. Raise CommandError if unknown."""
    if not name:
        return None
    model = get_user_model()
    try:
        return model._default_manager.get_by_natural_key(name)
    except model.DoesNotExist as error:
        raise CommandError(
            f"There is no user {name!r}. Give the name with which one signs in."
        ) from error


def named_module(name: str) -> str:
    """Return the id of a module, or none for none. Raise CommandError if unknown."""
    known = module_ids()
    if name and name not in known:
        raise CommandError(
            f"There is no module {name!r}. There are: {', '.join(known)}."
        )
    return name


def judged_tools(user: Any, module: str = "") -> list[Judged]:
    """Return the policy of each tool, for `user` or for nobody in particular."""
    try:
        if not conf.enabled():
            return []
        return [
            _judged(tool, user, module)
            for _name, tool in sorted(registry.tools().items())
            if not tool.display.renders_only
        ]
    except (DatabaseError, ImproperlyConfiguredAssistant):
        return []  # the doctor has said it


def _judged(tool: ToolDefinition, user: Any, module: str) -> Judged:
    if user is not None and not may_call(user, tool):
        reason = f"Denied without the permission {tool.permission!r}."
        return Judged(name=tool.name, decision="deny", reason=reason)
    verdict = tool_verdict(tool, user=user, module=module)
    return Judged(name=tool.name, decision=verdict.decision, reason=verdict.reason)


def idle_rules() -> list[str]:
    """Return the rules, of rows, that mean no tool or no module."""
    modules = {"", *module_ids()}
    try:
        rows = list(PolicyRule.objects.order_by("pk"))
    except DatabaseError:
        return []
    return [
        f"{row.pk} ({row})"
        for row in rows
        if not meant_by(row.tools, registry.tools()) or row.module not in modules
    ]


def count_of_rules() -> str:
    """Return how many rules there are, in words."""
    try:
        count = len(site_rules())
    except (DatabaseError, ImproperlyConfiguredAssistant):
        return "not known"
    return f"rules of the site: {count}" if count else "as the tools say themselves"
