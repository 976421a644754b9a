"""How often a person was asked, for the line of a site and for the sum of all."""

from collections.abc import Iterator
from typing import Any

CARDS = "cards"  # the property of a test: how many it was shown


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what `__main__` adds up, if any test of the site has asked."""
    counts = [*_counts(terminalreporter.stats)]
    if asked := sum(map(bool, counts)):
        second = sum(counts) - asked
        terminalreporter.write_line(f"asked: {asked} cases, {second} a second time")


def _counts(stats: Any) -> Iterator[int]:
    for outcome in ("passed", "failed"):
        for report in stats.get(outcome, ()):
            for name, value in getattr(report, "user_properties", ()):
                if name == CARDS:
                    yield value
