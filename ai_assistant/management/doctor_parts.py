"""Parts of the doctor's report: budgets, programs and the policy."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError
from django.db.models import Q

from ai_assistant import conf
from ai_assistant.configuration.problems.stored import (
    TAUGHT,
    agent_problems,
    module_problems,
    rows_of_site,
    rule_problems,
    taught_problems,
)
from ai_assistant.engine.queries import failed_hooks
from ai_assistant.exceptions import (
    AssistantError,
    ImproperlyConfiguredAssistant,
    ToolFailed,
)
from ai_assistant.models import clock
from ai_assistant.models.clock import Now
from ai_assistant.models.token import AccessToken
from ai_assistant.models.usage import Budget
from ai_assistant.modules.resolve import module_ids, registered_modules
from ai_assistant.providers import price_list
from ai_assistant.providers.base import OFFLINE, provider_for, provider_path
from ai_assistant.providers.prices import has_prices, price_usd
from ai_assistant.registry import registry
from ai_assistant.request_context import script_prefix
from ai_assistant.safety.budgets.budgets import limits_money
from ai_assistant.safety.identity.permissions import may_call
from ai_assistant.safety.policy.policy import site_rules, tool_verdict
from ai_assistant.tools.adapters.request import user_request
from ai_assistant.tools.adapters.site_middleware import reasons_left_out
from ai_assistant.tools.adapters.site_request import through_site
from ai_assistant.types import ToolDefinition, Verdict

TOKENS = 1_000  # of which the price is asked, to see whether there is one


def count_of_budgets() -> str:
    """Return how many budgets there are, and where they come from."""
    in_settings, rows = len(conf.get("BUDGETS")), Budget.objects.count()
    if not in_settings and not rows:
        return "none: nothing limits the use of the model but the limits of a run"
    return f"{in_settings} in the settings, {rows} in the admin"


def profile_without_price() -> str:
    """Return the name of a profile without a known price, if money is limited."""
    if not limits_money():
        return ""
    return next((name for name in conf.profiles() if _price(name) is None), "")


def _price(name: str) -> Decimal | None:
    profile = conf.profile(name)
    try:
        provider = provider_for(profile)
        asyncio.run(provider.ready())
        return price_usd(profile, provider, TOKENS, TOKENS)
    except AssistantError:
        return None


def known_of_model(profile: Mapping[str, Any]) -> str:
    """Return what is known of the model of a profile, in words."""
    if provider_path(profile) == OFFLINE:
        return "no model: rules answer, and cost nothing"
    facts = price_list.facts_of(str(profile.get("MODEL") or ""))
    window = facts and facts.window_tokens
    said = [f"window of {window:,} tokens" if window else "window not known"]
    if has_prices(profile):
        said.append("price of the profile")
    elif facts and facts.cost_usd(price_list.ONE_EACH) is not None:
        said.append("price of litellm's list")
    else:
        said.append("price not known")
    if facts and facts.abilities and "function_calling" not in facts.abilities:
        said.append("calls no tools")
    return "; ".join(said)


def count_of_tokens() -> tuple[int, int]:
    """Return how many tokens are valid, and how many of them never expire."""
    lasting = Q(expires_at=None) | Q(expires_at__gt=Now())
    valid = AccessToken.objects.filter(lasting, revoked_at=None, user__is_active=True)
    return valid.count(), valid.filter(expires_at=None).count()


def who_may_call() -> str:
    """Return which pages of other sites may call, in words."""
    origins = conf.get("CORS_ORIGINS")
    return f"with a token: {', '.join(origins)}" if origins else "none may call"


def named_module(name: str) -> str:
    """Return the id of a module; empty for none. Raise CommandError if unknown."""
    try:
        ids = module_ids()
    except DatabaseError:  # the doctor says so; of code there are these
        ids = [module.id for module in registered_modules()]
    if name and name not in ids:
        raise CommandError(f"There is no module {name!r}. There are: {', '.join(ids)}.")
    return name


def judged_tools(user: Any, module: str = "") -> dict[str, Verdict]:
    """Return the policy of each tool, for `user` or in general."""
    try:
        if not conf.enabled():
            return {}
        return {
            name: _verdict_of(tool, user, module)
            for name, tool in sorted(registry.tools().items())
            if not tool.display.renders_only
        }
    except (DatabaseError, ImproperlyConfiguredAssistant):
        return {}  # the doctor has said it


def _verdict_of(tool: ToolDefinition, user: Any, module: str) -> Verdict:
    if user is not None and not may_call(user, tool):
        reason = f"Denied without the permission {tool.permission!r}."
        return Verdict(decision="deny", reason=reason, source="tool")
    return tool_verdict(tool, user=user, module=module)


def hooks_in_words() -> str:
    """Return the hooks, with where each applies and who has registered it."""
    said = [
        f"{hook.name} ({hook.origin}; {hook.where}{'; guard' if hook.guard else ''})"
        for hook in registry.hooks()
    ]
    return "; ".join(said) or "none"


def failed_hooks_in_words() -> str:
    """Return which hooks have failed in the last day, with the error; empty for none."""
    found = failed_hooks(clock.now() - timedelta(days=1))
    return "; ".join(
        f"{name!r} at {one['point']}, {one['count']} times: {one['error']}"
        for name, one in sorted(found.items())
    )


def problems_of_rules() -> list[str]:
    """Return what is wrong with the policy rules that are kept in the admin."""
    try:
        return [f"{one.row.pk} ({one.row}): {one.text}" for one in rule_problems()]
    except DatabaseError:
        return []


def problems_of_agents() -> list[str]:
    """Return what is wrong with the agents that are kept in the admin."""
    return [f"{one.row.name}: {one.text}" for one in agent_problems()]


def problems_of_rows() -> list[str]:
    """Return what is wrong with the instructions and the like of the admin."""
    return [
        f"{one.row._meta.verbose_name} {one.row.name}: {one.text}"
        for model in TAUGHT
        for one in taught_problems(model)
    ]


def count_of_rows() -> str:
    """Return how many instructions and the like the admin has."""
    counted = [
        (len(rows_of_site(model)), model._meta.verbose_name_plural) for model in TAUGHT
    ]
    return ", ".join(f"{count} {label}" for count, label in counted)


def problems_of_modules() -> list[str]:
    """Return what is wrong with the modules that are set up in the admin."""
    return [f"{one.row.name}: {one.text}" for one in module_problems()]


def count_of_rules() -> str:
    """Return how many rules there are, in words."""
    try:
        count = len(site_rules())
    except (DatabaseError, ImproperlyConfiguredAssistant):
        return "not known"
    return f"rules of the site: {count}" if count else "as the tools declare"


def why_not_passed(user: Any) -> str:
    """Return what keeps a request of `user` from its view; empty if nothing does."""
    try:
        through_site(user_request(user, "GET", script_prefix()), lambda: None)
    except Exception as error:  # noqa: BLE001 - code of the site
        fault = error.__cause__ or error
        if isinstance(fault, ToolFailed):
            return "a middleware answers by itself"
        return f"{type(fault).__name__}: {fault}"
    return ""


def around_writes_in_words() -> str:
    """Return what of the site a write is within, and why other middlewares are not."""
    reasons = reasons_left_out()
    passed = [path for path in settings.MIDDLEWARE if path not in reasons]
    if context := conf.get("DATA", "REQUEST_CONTEXT"):
        passed.append(f"{context} (REQUEST_CONTEXT)")
    said = [", ".join(passed) or "nothing of the site"]
    said += [
        f"without {', '.join(path for path in reasons if reasons[path] == reason)} ({reason})"
        for reason in dict.fromkeys(reasons.values())
    ]
    return "; ".join(said)
