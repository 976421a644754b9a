"""What keeps `make check` free of processes."""

import subprocess

import pytest

from tests import levels, thorough

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
