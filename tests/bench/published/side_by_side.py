"""All subjects in turn, some rounds of it; the median of each figure counts."""

import os
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.bench.published import results
from tests.bench.published.subjects import Rival, subjects
from tests.model_server import ModelServerProcess

OVER = "first_token_over_http_ms"


def measure(*, rounds: int, rival: Rival | None) -> None:
    """Measure and keep the medians."""
    loads = [os.getloadavg()[0]]
    seen: dict[str, list[dict[str, float]]] = defaultdict(list)
    for number in range(rounds):
        for name, figures in _round(rival).items():
            seen[name].append(figures)
            print(f"round {number + 1}: {name}: {figures}", flush=True)
        loads.append(os.getloadavg()[0])
    found = {
        name: {
            key: round(statistics.median(one[key] for one in rows), 1)
            for key in rows[0]
        }
        for name, rows in seen.items()
    }
    figures: dict[str, Any] = {"rounds": rounds, "subjects": found}
    results.save("side_by_side", figures, loads)


def _round(rival: Rival | None) -> dict[str, dict[str, float]]:
    """Return the figures of each subject, the first token also over bare HTTP's."""
    found = {}
    for name, measure_one in subjects(rival).items():
        with tempfile.TemporaryDirectory() as folder, ModelServerProcess() as model:
            found[name] = measure_one(Path(folder), model.base)
    bare = found["bare HTTP"]["first_token_ms"]
    for figures in found.values():
        figures[OVER] = round(figures["first_token_ms"] - bare, 1)
    return found
