"""Limits and usage of a run's model calls: checked before, recorded after."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from ai_assistant import conf
from ai_assistant.engine.storage.units import unit
from ai_assistant.models.run import Run
from ai_assistant.models.usage import Budget, UsageLedger
from ai_assistant.modules.base import ContextModule
from ai_assistant.modules.limits import NO_LIMITS, limits_of
from ai_assistant.providers.prices import price_usd
from ai_assistant.safety.budgets.budgets import Amount, Spender, budgets_for
from ai_assistant.safety.budgets.enforcement import (
    input_tokens,
    output_tokens,
    require_budget,
    tokens_of,
)
from ai_assistant.safety.budgets.ledger import (
    CallCost,
    release,
    reserve,
    reserve_alone,
)
from ai_assistant.safety.limits import check_suggestion_rate, serialize
from ai_assistant.types import ModelRequest, Provider

LEAST_USD = Decimal("1e-8")


class Spending:
    """
    The money and tokens of one run's model calls.

    Where no budget holds for the user, nothing is reserved and nothing is written
    before the reply is stored.
    """

    def __init__(self, run: Run, profile: Mapping[str, Any]) -> None:
        self.run = run
        self.profile = profile
        self.has_budgets = False
        self._budgets: list[Budget] = []
        self._spender: Spender | None = None
        self._reserved: UsageLedger | None = None

    def look_up(self, user: Any, module: ContextModule | None = None) -> None:
        """
        Read which budgets hold now, with the limits of the run's module.

        Call it in a thread, before each request.
        """
        run = self.run
        self._spender = Spender(
            user=user, run_id=run.pk, chain=run.chain, root=run.root_id
        )
        self._budgets = [*budgets_for(user), *_of_module(module)]
        self.has_budgets = bool(self._budgets)

    def reserve(
        self, step_index: int, request: ModelRequest, provider: Provider
    ) -> None:
        """Reserve what the call may take. Raise Limited if a budget has less left."""
        cost = _cost(self.profile, step_index, request, provider)
        if self._spender is not None:
            least = _least(self.profile, request, provider)
            self._reserved = _reserve(
                lambda: reserve(self.run, cost), self._budgets, self._spender, least
            )

    def release(self) -> None:
        """Give back what was reserved: the call has used nothing."""
        row, self._reserved = self._reserved, None
        if row is not None:
            _release(row)


def reserve_without_run(
    user: Any, name: str, request: ModelRequest, provider: Provider
) -> UsageLedger:
    """
    Reserve what a call may take that is of no run: for suggestions, or a dry run.

    Raise Limited if a budget of the user has less left, or many such calls were made
    for the user a moment ago. `name` is that of the profile.
    """
    profile = conf.profile(name)
    cost = _cost(profile, 0, request, provider)

    def reserving() -> UsageLedger:
        check_suggestion_rate(user.pk)
        return reserve_alone(user.pk, name, cost)

    least = _least(profile, request, provider)
    return _reserve(reserving, budgets_for(user), Spender(user=user), least)


def _of_module(module: ContextModule | None) -> Iterator[Budget]:
    limits = NO_LIMITS if module is None else limits_of(module)
    if module is None or (limits.tokens is None and limits.usd is None):
        return
    budget = Budget(
        scope=Budget.Scope.RUN,
        window=Budget.Window.RUN,
        tokens=limits.tokens,
        usd=limits.usd,
    )
    budget.module = module.id
    yield budget


def check_before_start(user: Any, text: str) -> None:
    """Raise Limited if the message alone, without its history, exceeds a budget."""
    if budgets := budgets_for(user):
        options = conf.profiles().get("default", {}).get("OPTIONS", {})
        told = output_tokens(options)
        needed = Amount(tokens=tokens_of(len(text)) + told, usd=LEAST_USD)
        least = Amount(tokens=told)
        require_budget(
            budgets, Spender(user=user), needed, least=least, is_counted=False
        )


def _cost(
    profile: Mapping[str, Any], index: int, request: ModelRequest, provider: Provider
) -> CallCost:
    asked, told = input_tokens(request), output_tokens(request.options)
    return CallCost(
        step_index=index,
        model=request.model,
        input_tokens=asked,
        output_tokens=told,
        usd=price_usd(profile, provider, asked, told),
    )


def _least(
    profile: Mapping[str, Any], request: ModelRequest, provider: Provider
) -> Amount:
    """Return what the request would take if nothing had been said in it."""
    bare = _cost(profile, 0, replace(request, messages=request.messages[:1]), provider)
    tokens = bare.input_tokens + bare.output_tokens
    return Amount(tokens=tokens, usd=bare.usd or Decimal(0))


@unit
def _reserve(
    reserving: Callable[[], UsageLedger],
    budgets: list[Budget],
    spender: Spender,
    least: Amount,
) -> UsageLedger:
    # Sums and reservation must be one: on PostgreSQL by the lock, on SQLite since
    # the row is written before anything is read.
    serialize("budgets")
    row = reserving()
    needed = Amount(tokens=row.tokens, usd=Decimal(row.usd))
    require_budget(budgets, spender, needed, least=least, is_counted=True)
    return row


@unit
def _release(row: UsageLedger) -> None:
    release(row)
