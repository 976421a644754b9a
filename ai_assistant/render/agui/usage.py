"""What the model calls of one stream took, as AG-UI counts it."""

from ag_ui.core import TokenUsage

from ai_assistant.models.run import Run
from ai_assistant.models.usage import UsageLedger


def usage_of(run: Run, first_step: int) -> list[TokenUsage]:
    """Return the usage by model, of the steps from `first_step` on."""
    rows = UsageLedger.objects.filter(
        run=run, step_index__gte=first_step, state=UsageLedger.State.SETTLED
    )
    sums: dict[str, list[UsageLedger]] = {}
    for row in rows.order_by("created_at"):
        if row.input_tokens or row.output_tokens:  # unknown is not nothing
            sums.setdefault(row.model, []).append(row)
    return [_sum(model, calls) for model, calls in sums.items()]


def _sum(model: str, calls: list[UsageLedger]) -> TokenUsage:
    tokens_in = sum(call.input_tokens for call in calls)
    tokens_out = sum(call.output_tokens for call in calls)
    return TokenUsage(
        model=model or None,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        total_tokens=tokens_in + tokens_out,
        reasoning_tokens=sum(call.reasoning_tokens for call in calls) or None,
        cached_input_tokens=sum(call.cached_tokens for call in calls) or None,
    )
