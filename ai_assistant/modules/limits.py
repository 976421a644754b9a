"""The limits of one answer that a module sets: they tighten what holds, never loosen it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from ai_assistant.modules.base import LIMITS, ContextModule


@dataclass(frozen=True, kw_only=True, slots=True)
class RunLimits:
    """Limits of one run and of the runs that count as one with it; None: not limited."""

    steps: int | None = None
    run_s: float | None = None
    tokens: int | None = None
    usd: Decimal | None = None


NO_LIMITS = RunLimits()


def limits_of(module: ContextModule) -> RunLimits:
    """Return the tightest of what the code of a module says, and its row."""
    said = (module.limits, module.configured.limits)
    found = {name: min(_given(name, said), default=None) for name in LIMITS}
    return RunLimits(
        steps=_whole(found["steps"]),
        run_s=None if found["run_s"] is None else float(found["run_s"]),
        tokens=_whole(found["tokens"]),
        usd=found["usd"],
    )


def _given(name: str, said: tuple[Mapping[str, Any], ...]) -> Iterator[Decimal]:
    for one in said:
        if (value := limit_value(one.get(name))) is not None:
            yield value


def limit_value(value: Any) -> Decimal | None:
    """Return a limit as a number; None if it is none, or not above 0."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() and number > 0 else None


def _whole(value: Decimal | None) -> int | None:
    return None if value is None else max(1, int(value))


def tightest(first: float, *others: float | None) -> float:
    """Return the smallest of the limits that are given."""
    return min([first, *(one for one in others if one is not None)])
