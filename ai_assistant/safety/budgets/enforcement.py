"""Check a request against every budget, and estimate its tokens."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from ai_assistant.exceptions import Limited
from ai_assistant.models import clock
from ai_assistant.models.usage import Budget
from ai_assistant.safety.budgets.budgets import Amount, Spender, used_amount, window
from ai_assistant.safety.budgets.texts import too_large, too_small, used_up
from ai_assistant.types import ModelRequest

CHARS_PER_TOKEN = 3  # English has 4; code, JSON and other languages fewer
RESERVE_OUTPUT_TOKENS = 1000  # of a reply, where no option limits it
OUTPUT_OPTIONS = ("max_completion_tokens", "max_tokens")


def tokens_of(chars: int) -> int:
    """Return about how many tokens a text of so many characters has at most."""
    return -(-chars // CHARS_PER_TOKEN)


def input_tokens(request: ModelRequest) -> int:
    """Return about how many tokens a request has."""
    payload = json.dumps([request.messages, request.tools], ensure_ascii=False)
    return tokens_of(len(payload))


def output_tokens(options: Mapping[str, Any]) -> int:
    """Return how many tokens a reply may have: the limit it is sent with, if any."""
    for name in OUTPUT_OPTIONS:
        limit = options.get(name)
        if isinstance(limit, int) and limit > 0:
            return limit
    return RESERVE_OUTPUT_TOKENS


def require_budget(
    budgets: Iterable[Budget],
    spender: Spender,
    needed: Amount,
    *,
    least: Amount,
    is_counted: bool,
) -> None:
    """
    Raise Limited if `needed` is more than one of `budgets` has left.

    `least` is what the smallest request would need: a budget that is smaller still
    has to be raised. `is_counted`: `needed` is in the ledger already. The budget
    that opens last is named, since waiting for another one would not help.
    """
    now = clock.now()
    extra = Amount() if is_counted else needed
    full = [
        budget
        for budget in budgets
        if _exceeds(_sum(used_amount(budget, spender, now), extra), budget)
    ]
    if not full:
        return
    for budget in full:
        if _exceeds(least, budget):
            raise Limited(too_small(budget))
    for budget in full:
        if _exceeds(needed, budget):
            raise Limited(too_large(budget))
    last = max(full, key=lambda budget: _opens(budget, now))
    sentence = used_up(last)
    if last.scope == Budget.Scope.RUN:
        sentence += " " + _("Ask it to continue.")
    raise Limited(sentence, window(last.window, now).opens_at, now=now)


def _sum(first: Amount, second: Amount) -> Amount:
    return Amount(tokens=first.tokens + second.tokens, usd=first.usd + second.usd)


def _opens(budget: Budget, now: datetime) -> float:
    opens_at = window(budget.window, now).opens_at
    return opens_at.timestamp() if opens_at else 0.0


def _exceeds(amount: Amount, budget: Budget) -> bool:
    too_many = budget.tokens is not None and amount.tokens > budget.tokens
    too_much = budget.usd is not None and amount.usd > budget.usd
    return too_many or too_much
