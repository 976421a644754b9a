"""What the doctor says of budgets: how many, and whether money can be counted."""

import asyncio
import inspect
from decimal import Decimal

from ai_assistant import conf
from ai_assistant.exceptions import AssistantError
from ai_assistant.models.usage import Budget
from ai_assistant.providers.base import provider_for
from ai_assistant.providers.prices import price_usd

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
        ready = getattr(provider, "ready", None)
        if ready is not None and inspect.iscoroutinefunction(ready):
            asyncio.run(ready())
        return price_usd(profile, provider, TOKENS, TOKENS)
    except AssistantError:
        return None
