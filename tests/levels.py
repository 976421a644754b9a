"""
Which tests belong to which level: `make check` before each commit, `make test` for all.

`make check` leaves out what is marked `servers`, `broad`, `long`, `browser` or `faults`, but
takes the browser tests that are marked `smoke`. A test gets `servers` by itself where it
uses a fixture that starts a process; where it starts one of its own, the mark stands in
its file. Without the mark it fails, so that `make check` stays free of servers.
"""

import gc
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.nodeid import coerce_node_id

from tests import thorough
from tests.reached import reached

TESTS = Path(__file__).parent
# Fixtures that start processes. Where starting takes long, the tests are broad and form
# a group, which one process of a parallel run takes as a whole.
STARTERS = {
    "demo_server": "demo",
    "model_server": "",
    "postgres_server": "",
    "readme_site": "sites",
    "redis_server": "",
    "wheel": "",
}
# Folders whose tests try very much of a kind.
BROAD = ("attacks", "tools/data/oracle")
# Folders and files of many tests that take long, of which each asks something else.
LONG = (
    "admin/test_modules.py",
    "admin/test_permissions.py",
    "engine/calls/browser/test_page_action.py",
    "engine/execution/test_summing.py",
    "engine/interrupts/test_asked_once.py",
    "engine/interrupts/test_edit_time.py",
    "engine/interrupts/test_preview_time.py",
    "engine/interrupts/test_trials.py",
    "engine/test_no_secrets.py",
    "engine/undo/test_snapshots.py",
    "project/demo_model/test_data.py",
    "project/questionnaires/assistant/designer/test_snapshot.py",
    "project/test_offered.py",
    "render/html/test_two_plans.py",
    "render/test_played_again.py",
    "test_packaging.py",
    "tools/api/test_changes.py",
    "tools/api/test_modules.py",
    "web/agui",
    "web/panel/test_conversation.py",
    "web/panel/test_sharing.py",
    "web/save_guard/test_stale_form.py",
    "web/test_access.py",
    "web/test_doors.py",
    "web/test_not_kept.py",
)
STARTED = ("servers", "browser", "faults")

_current: list[pytest.Item] = []
_start = subprocess.Popen.__init__


@pytest.hookimpl(wrapper=True, tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    """Mark what starts a server and what is broad; let groups stay together."""
    _mark(items)
    yield
    if thorough.IS_SHARED:
        _take_share(config, items)
    _keep_groups(items)


def _mark(items: list[pytest.Item]) -> None:
    for item in items:
        for name in STARTERS.keys() & getattr(item, "fixturenames", ()):
            item.add_marker("servers")
            if STARTERS[name]:
                item.add_marker("broad")
                item.add_marker(pytest.mark.xdist_group(STARTERS[name]))
        for mark in _marks_of_file(item.path):
            item.add_marker(mark)


@cache  # there are thousands of tests, and hundreds of files
def _marks_of_file(path: Path) -> list[str]:
    listed = {"broad": BROAD, "long": LONG}
    return [
        mark
        for mark, places in listed.items()
        if any(path.is_relative_to(TESTS / place) for place in places)
    ]


def _take_share(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another commit's `make test` runs."""
    taken = thorough.in_share(items)
    left_out = {*items}.difference(taken)
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = taken


def pytest_report_header() -> str:
    """Say which part of the long levels runs."""
    if not thorough.IS_SHARED:
        return ""
    parts = ", ".join(f"1 of {most} of {mark}" for mark, most in thorough.PARTS.items())
    parts += f", 1 of {thorough.LIST_PARTS} of lists"
    if thorough.QUICK > 1:
        parts = f"1 of {thorough.QUICK}, and what the last changes reach"
    return f"parts of commit {thorough.commit():040x}: {parts} (all: make test WHOLE=1)"


def _keep_groups(items: list[pytest.Item]) -> None:
    """
    Give each test of a group the id by which `--dist loadgroup` knows it.

    pytest-xdist 3.8 writes it where pytest 9.2 reads it no more, and groups nothing
    (https://github.com/pytest-dev/pytest-xdist/issues/1386).
    """
    for item in items:
        written = getattr(item, "_nodeid", item.nodeid)
        if written.startswith(f"{item.nodeid}@"):
            item._id = coerce_node_id(written)  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Remember the test, for the process that it may start."""
    _current[:] = [item]
    try:
        return (yield)
    finally:
        _current.clear()


def pytest_configure() -> None:
    """Let no test start a process that is not marked for it."""
    if thorough.IS_SHARED:
        reached()  # before the processes of a parallel run start

    def start(self: Any, *arguments: Any, **options: Any) -> None:
        if _current and not any(map(_current[0].get_closest_marker, STARTED)):
            raise AssertionError(
                f'The test "{_current[0].nodeid}" starts a process. Mark it "servers".'
            )
        _start(self, *arguments, **options)

    subprocess.Popen.__init__ = start  # type: ignore[method-assign]


def pytest_collection_finish() -> None:
    """Keep the collector from looking through all tests again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
