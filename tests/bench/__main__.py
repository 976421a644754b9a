"""`python -m tests.bench [NAME ...]`: all figures, or those named."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench import (
    commits,
    context,
    data,
    drawn,
    followed,
    hooks,
    long_history,
    memory,
    owner,
    page,
    panel,
    registry,
    resolve,
    sse,
    startup,
    streams,
)
from tests.bench.report import emit
from tests.model_server.process import ModelServerProcess


def calibrate(base: str, _folder: Path) -> None:
    emit("cores", os.cpu_count() or 0, "cores", n=1)
    emit("load_before", os.getloadavg()[0], "1 min load", n=1)
    short = streams.bare(base, "litellm", streams.SHORT, 20)
    fast = streams.bare(base, "litellm", streams.FAST, 5)
    emit("bare_litellm_first_token", short["first_s"] * 1000, "ms", n=20)
    emit("bare_litellm_cpu_a_turn", short["cpu_s"] * 1000, "ms", n=20)
    rate = fast["tokens"] / (fast["total_s"] - 0.1)
    emit("bare_litellm_rate", rate, "tokens/s", n=5)


BENCHES: dict[str, Callable[[str, Path], None]] = {
    "calibration": calibrate,
    "first_http": lambda base, folder: streams.measure_first(
        base, folder, "direct", 40
    ),
    "first_litellm": lambda base, folder: streams.measure_first(
        base, folder, "litellm", 40
    ),
    "parallel": streams.measure_parallel,
    "rate": streams.measure_rate,
    "sse": sse.measure,
    "commits": commits.measure,
    "memory": memory.measure,
    "page": page.measure,
    "panel": panel.measure,
    "context": context.measure,
    "data": data.measure,
    "drawn": drawn.measure,
    "followed": followed.measure,
    "hooks": hooks.measure,
    "long_history": long_history.measure,
    "owner": owner.measure,
    "startup": startup.measure,
    "registry": registry.measure,
    "resolve": resolve.measure,
}


def main() -> None:
    names = sys.argv[1:] or list(BENCHES)
    with tempfile.TemporaryDirectory() as folder, ModelServerProcess() as model:
        for name in names:
            BENCHES[name](model.base, Path(folder))
    emit("load_after", os.getloadavg()[0], "1 min load", n=1)


if __name__ == "__main__":
    main()
