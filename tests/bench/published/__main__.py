"""`python -m tests.bench.published [PART ...]`: measure, draw, and write the page."""

import argparse
from collections.abc import Callable

from tests.bench.published import (
    costs,
    crowd,
    growth,
    page,
    plots,
    queries,
    results,
    side_by_side,
    soak,
)
from tests.bench.published.subjects import Rival

PARTS: dict[str, Callable[[], None]] = {
    "streams": crowd.measure_streams,
    "tabs": crowd.measure_tabs,
    "growth": growth.measure,
    "queries": queries.measure,
    "costs": costs.measure,
    "soak": soak.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    names = ["side_by_side", *PARTS, "page"]
    parser.add_argument("parts", nargs="*", help=f"some of: {', '.join(names)}")
    parser.add_argument("--rounds", type=int, default=3, help="of side_by_side")
    parser.add_argument("--rival", help="the name of another site that speaks AG-UI")
    parser.add_argument("--rival-command", help="serves it on {port}, for {model_port}")
    parser.add_argument("--rival-path", help="of its AG-UI address")
    said = parser.parse_args()
    parts = said.parts or names
    if unknown := set(parts) - set(names):
        parser.error(f"unknown: {', '.join(sorted(unknown))}. Give {', '.join(names)}.")
    rival = (
        Rival(name=said.rival, command=said.rival_command, path=said.rival_path)
        if said.rival
        else None
    )
    if "side_by_side" in parts:
        side_by_side.measure(rounds=said.rounds, rival=rival)
    for name, measure in PARTS.items():
        if name in parts:
            measure()
    plots.draw(results.load())
    page.write(results.load())


if __name__ == "__main__":
    main()
