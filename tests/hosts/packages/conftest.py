"""The database of a site, and how often a person was asked there."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

CARDS = "cards"  # the property of a test: how many it was shown


if os.environ.get("HOSTS_DATABASE"):

    @pytest.fixture(scope="session")
    def django_db_setup() -> None:
        """Leave it as the module `prepare` of the site has made it."""


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
