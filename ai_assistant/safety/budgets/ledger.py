"""The ledger of the model calls: reserved before, settled after, never in between."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import F, Q, QuerySet

from ai_assistant.models import clock
from ai_assistant.models.clock import Now, free
from ai_assistant.models.raw_sql import insert_row
from ai_assistant.models.run import Run, RunState
from ai_assistant.models.usage import UsageLedger
from ai_assistant.safety.budgets.enforcement import tokens_of
from ai_assistant.types import Usage, UserKey

State = UsageLedger.State
HELD_AT_ONCE = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class CallCost:
    """The estimated cost of one model call; `usd` is None if no price is known."""

    step_index: int
    model: str
    input_tokens: int
    output_tokens: int
    usd: Decimal | None


def reserve(run: Run, cost: CallCost) -> UsageLedger:
    """Reserve the cost of a call that is about to be made."""
    own = {"run": run, "user_id": run.user_id, "epoch": run.epoch}
    return _reserved(cost, profile=run.profile[:100], **own)


def reserve_alone(user_id: UserKey, profile: str, cost: CallCost) -> UsageLedger:
    """Reserve the cost of a call outside of any run."""
    return _reserved(cost, profile=profile[:100], user_id=user_id)


def _reserved(cost: CallCost, **fields: Any) -> UsageLedger:
    return UsageLedger.objects.create(
        **fields,
        step_index=cost.step_index,
        model=cost.model[:200],
        state=State.RESERVED,
        tokens=cost.input_tokens + cost.output_tokens,
        usd=cost.usd or 0,
        input_tokens=cost.input_tokens,
        output_tokens=cost.output_tokens,
        cost_usd=cost.usd,
    )


def ledger_row(
    run: Run, index: int, *, model: str, profile: str = "", is_reserved: bool = True
) -> UsageLedger:
    """
    Return the row of the call for step `index`; a new one, if none was reserved.

    `profile` is whose model it was, if not that of the run.
    """
    row = (_row_of(run, index) if is_reserved else None) or UsageLedger(
        run=run, user_id=run.user_id, step_index=index, epoch=run.epoch
    )
    row.profile, row.model = (profile or run.profile)[:100], model[:200]
    return row


def settle(row: UsageLedger, usage: Usage, *, said_chars: int) -> None:
    """
    Record the cost of a call.

    A provider that does not count leaves the estimate of the request and the
    length of the reply. Call it in the transaction that stores the reply.
    """
    if usage.input_tokens or usage.output_tokens:
        row.input_tokens, row.output_tokens = usage.input_tokens, usage.output_tokens
        row.cached_tokens = usage.cached_tokens
        row.reasoning_tokens = usage.reasoning_tokens
        row.cost_usd = usage.cost_usd
    else:
        _settle_by_length(row, said_chars)
    _close(row)


def settle_open(run: Run, *, said_chars: int = 0) -> None:
    """
    Settle the run's interrupted calls by their estimate.

    `said_chars` is how much of a reply had come. Requires the lease.
    """
    for row in _open().filter(run_id=run.pk):
        _settle_by_length(row, said_chars)
        _close(row)


def release(row: UsageLedger) -> None:
    """Release the reservation of a call that has used nothing."""
    _open().filter(pk=row.pk).update(
        **dict.fromkeys(("tokens", "usd", "input_tokens", "output_tokens"), 0),
        cost_usd=None,
        state=State.RELEASED,
        settled_at=Now(),
    )


def settle_left_behind() -> int:
    """
    Settle by their estimate the calls whose run is no longer active.

    Their process died, or their conversation was deleted meanwhile. Return how many
    there were; writes only if there are some. Call it in a transaction.
    """
    under_way = Q(run__state=RunState.RUNNING, run__epoch=F("epoch"))
    # In no order: then the index of the open ones is all that is read.
    left = _open().exclude(under_way).order_by()
    pks = list(left.values_list("pk", flat=True)[:HELD_AT_ONCE])
    if not pks:
        return 0
    unlocked = free(_open().filter(pk__in=pks))
    return unlocked.update(state=State.SETTLED, settled_at=Now())


def _open() -> QuerySet[UsageLedger]:
    return UsageLedger.objects.filter(state=State.RESERVED)


def _row_of(run: Run, index: int) -> UsageLedger | None:
    rows = UsageLedger.objects.filter(run=run, step_index=index, epoch=run.epoch)
    return rows.exclude(state=State.RELEASED).order_by("-pk").first()


def _settle_by_length(row: UsageLedger, said_chars: int) -> None:
    """Count the request as estimated, and the reply by its length."""
    before = row.input_tokens + row.output_tokens
    row.output_tokens = tokens_of(said_chars)
    if row.cost_usd and before:
        share = Decimal(row.input_tokens + row.output_tokens) / before
        row.cost_usd = row.cost_usd * share


def _close(row: UsageLedger) -> None:
    row.tokens = row.input_tokens + row.output_tokens
    row.usd = row.cost_usd or Decimal(0)
    row.state = State.SETTLED
    if row._state.adding:
        insert_row(row, {"settled_at": clock.time_sql()})
    else:
        row.settled_at = clock.now()
        row.save()
