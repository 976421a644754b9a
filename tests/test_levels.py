"""What keeps `make check` free of processes, and what of each level runs at a commit."""

import subprocess
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from tests import levels, reached, thorough

TRUE = ["true"]


def test_process_of_an_unmarked_test_is_refused():
    with pytest.raises(AssertionError, match='test_levels.*Mark it "servers"'):
        subprocess.run(TRUE, check=True)


@pytest.mark.servers
def test_process_of_a_marked_test_starts():
    assert subprocess.run(TRUE, check=True).returncode == 0


def test_group_of_a_test_is_kept_in_its_id(request):
    before = request.node._id
    request.node._nodeid = f"{request.node.nodeid}@group"  # as pytest-xdist writes it

    levels._keep_groups([request.node])
    kept, request.node._id = request.node.nodeid, before

    assert kept == f"{request.node.nodeid}@group"


@pytest.mark.parametrize("mark", thorough.PARTS)
def test_long_test_is_in_one_part(mark, request, monkeypatch):
    request.node.add_marker(mark)
    monkeypatch.setattr(thorough, "is_reached", lambda path: False)
    parts = thorough.PARTS[mark]
    runs = []
    for number in range(parts):
        monkeypatch.setattr(thorough, "commit", lambda number=number: number * 9973)
        runs.append(thorough.is_in_share(request.node))

    assert sorted(runs) == [*[False] * (parts - 1), True]


def test_every_other_test_is_in_each_part(request):
    assert thorough.is_in_share(request.node)
    request.node.add_marker("browser")
    request.node.add_marker("smoke")
    assert thorough.is_in_share(request.node)


ROOM = thorough.TESTS / "engine" / "loop"


def listed(count, *, path=ROOM / "test_loop.py"):
    """Return the tests of a list, as pytest makes them."""
    return [
        SimpleNamespace(
            nodeid=f"{path}::test_it[{number}]",
            path=Path(path),
            get_closest_marker=lambda _name: None,
        )
        for number in range(count)
    ]


def ids(*shares):
    return [item.nodeid for share in shares for item in share]


def each_share(monkeypatch, items, parts):
    """Return what runs at commits one after another."""
    monkeypatch.setattr(thorough, "is_reached", lambda path: False)
    for number in range(parts):
        monkeypatch.setattr(thorough, "commit", lambda number=number: number * 9973)
        shuffled = Random(number).sample(items, len(items))
        taken = ids(thorough.in_share(shuffled))
        yield [item for item in items if item.nodeid in taken]


def test_list_is_whole_after_some_commits_and_never_left_out(monkeypatch):
    items = listed(7)

    shares = list(each_share(monkeypatch, items, thorough.LIST_PARTS))

    assert sorted(map(len, shares)) == [2, 2, 3]
    assert sorted(ids(*shares)) == sorted(ids(items))


@pytest.mark.parametrize(
    ("count", "path"),
    [
        (thorough.LIST - 1, ROOM / "test_loop.py"),  # short
        (20, thorough.TESTS / "docs" / "test_commands.py"),  # asks all files
        (20, thorough.TESTS / "test_conf.py"),  # in no room
    ],
)
def test_list_is_whole_at_each_commit(monkeypatch, count, path):
    items = listed(count, path=path)

    for share in each_share(monkeypatch, items, thorough.LIST_PARTS):
        assert share == items


def test_quick_part_of_all_is_all_after_some_commits(monkeypatch):
    items = listed(40)
    monkeypatch.setattr(thorough, "QUICK", 4)

    shares = list(each_share(monkeypatch, items, 4))

    assert max(map(len, shares)) < len(items)
    assert sorted(ids(*shares)) == sorted(ids(items))


def test_what_is_reached_is_whole(monkeypatch):
    items = listed(20)
    monkeypatch.setattr(thorough, "QUICK", 4)
    monkeypatch.setattr(reached, "reached", lambda: {"tests/engine/loop"})
    monkeypatch.setattr(thorough, "is_reached", reached.is_reached.__wrapped__)

    assert thorough.in_share(items) == items
    for item in items:
        item.get_closest_marker = ["long"].count
    assert thorough.in_share(items) == items


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ("ai_assistant/engine/loop/reply.py", {"tests/engine/loop"}),
        ("ai_assistant/conf.py", {"tests/test_conf.py"}),
        ("ai_assistant/registry.py", {"tests/test_registry.py"}),
        ("project/questionnaires/admin.py", {"tests/project/questionnaires"}),
        ("tests/web/test_way.py", {"tests/web/test_way.py"}),
        ("tests/web/conftest.py", {"tests/web"}),
        ("docs/commands.md", set()),
        ("Makefile", set()),
    ],
)
def test_what_a_change_reaches(changed, found):
    assert found <= set(reached.places([changed]))
    assert found or not [*reached.places([changed])]
