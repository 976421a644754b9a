"""Limits and usage of a run's model calls: checked before, recorded after."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from ai_assistant import conf
from ai_assistant.engine.storage.units import unit
from ai_assistant.models.run import Run
from ai_assistant.models.usage import Budget, UsageLedger
from ai_assistant.providers.prices import price_usd
from ai_assistant.safety.budgets.budgets import Amount, Spender, budgets_for
from ai_assistant.safety.budgets.enforcement import (
    input_tokens,
    output_tokens,
    require_budget,
    tokens_of,
)
from ai_assistant.safety.budgets.ledger import CallCost, release, reserve
from ai_assistant.safety.limits import serialize
from ai_assistant.types import ModelRequest, Provider

LEAST_USD = Decimal("1e-8")


class Spending:
    """
    The money and tokens of one run's model calls.

    Where no budget holds for the user, nothing is reserved and nothing is written
    before the reply is stored.
    """

    def __init__(self, run: Run, profile: Mapping[str, Any], model: str) -> None:
        self.run = run
        self.profile = profile
        self.model = model
        self.has_budgets = False
        self._budgets: list[Budget] = []
        self._spender: Spender | None = None
        self._reserved: UsageLedger | None = None

    def look_up(self, user: Any) -> None:
        """Read which budgets hold now. Call it in a thread, before each request."""
        self._spender = Spender(user=user, run_id=self.run.pk)
        self._budgets = budgets_for(user)
        self.has_budgets = bool(self._budgets)

    def reserve(
        self, step_index: int, request: ModelRequest, provider: Provider
    ) -> None:
        """Reserve what the call may take. Raise Limited if a budget has less left."""
        asked, told = input_tokens(request), output_tokens(request.options)
        cost = CallCost(
            step_index=step_index,
            model=self.model,
            input_tokens=asked,
            output_tokens=told,
            usd=price_usd(self.profile, provider, asked, told),
        )
        if self._spender is not None:
            least = self._least(request, provider)
            self._reserved = _reserve(
                self.run, cost, self._budgets, self._spender, least
            )

    def _least(self, request: ModelRequest, provider: Provider) -> Amount:
        """Return what the request would take if nothing had been said in it."""
        bare = replace(request, messages=request.messages[:1])
        asked, told = input_tokens(bare), output_tokens(request.options)
        usd = price_usd(self.profile, provider, asked, told)
        return Amount(tokens=asked + told, usd=usd or Decimal(0))

    def release(self) -> None:
        """Give back what was reserved: the call has used nothing."""
        row, self._reserved = self._reserved, None
        if row is not None:
            _release(row)


def check_before_start(user: Any, text: str) -> None:
    """Raise Limited if the message alone, without its history, exceeds a budget."""
    if budgets := budgets_for(user):
        options = conf.get("PROFILES").get("default", {}).get("OPTIONS", {})
        told = output_tokens(options)
        needed = Amount(tokens=tokens_of(len(text)) + told, usd=LEAST_USD)
        least = Amount(tokens=told)
        require_budget(
            budgets, Spender(user=user), needed, least=least, is_counted=False
        )


@unit
def _reserve(
    run: Run,
    cost: CallCost,
    budgets: list[Budget],
    spender: Spender,
    least: Amount,
) -> UsageLedger:
    # Sums and reservation must be one: on PostgreSQL by the lock, on SQLite since
    # the row is written before anything is read.
    serialize("budgets")
    row = reserve(run, cost)
    needed = Amount(tokens=row.tokens, usd=Decimal(row.usd))
    require_budget(budgets, spender, needed, least=least, is_counted=True)
    return row


@unit
def _release(row: UsageLedger) -> None:
    release(row)
