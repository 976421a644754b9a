"""
Figures of tests, printed at the end of the run: how much was tried, and what came of it.

A test says one by `record_property(FIGURE, "a sentence")`; so it is told also by the
processes of a parallel run. Many that belong together are cells of a table, of which
each row is one line: `record_property(*cell("table", "row", "column", 0))`.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

FIGURE, CELL = "figure", "cell"


def cell(table: str, row: str, column: str, figure: object) -> tuple[str, str]:
    """Return what `record_property` takes for one cell."""
    return CELL, f"{table}: {row}:|{column} {figure}"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the figures of all tests that have run."""
    reports = [report for group in terminalreporter.stats.values() for report in group]
    said = [
        (name, value)
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, value in report.user_properties
    ]
    figures = [value for name, value in said if name == FIGURE]
    figures += _rows(value for name, value in said if name == CELL)
    if figures:
        terminalreporter.section("figures")
        for figure in sorted(figures):
            terminalreporter.write_line(figure)


def _rows(cells: Iterable[str]) -> list[str]:
    rows = defaultdict(set)
    for one in cells:
        row, _bar, figure = one.partition("|")
        rows[row].add(figure)
    return [f"{row} {', '.join(sorted(found))}" for row, found in rows.items()]
