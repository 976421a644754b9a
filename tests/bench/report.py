"""How a figure is printed."""

import json
import statistics
from collections.abc import Sequence


def emit(name: str, value: float, unit: str, *, n: int, note: str = "") -> None:
    """Print one figure as one JSON object on a line of its own."""
    figure = {"name": name, "value": round(value, 3), "unit": unit, "n": n}
    print(json.dumps({**figure, "note": note}), flush=True)


def median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else float("nan")
