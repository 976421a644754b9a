"""What keeps `make check` free of processes."""

import subprocess

import pytest

TRUE = ["true"]


def test_process_of_an_unmarked_test_is_refused():
    with pytest.raises(AssertionError, match='test_levels.*Mark it "servers"'):
        subprocess.run(TRUE, check=True)


@pytest.mark.servers
def test_process_of_a_marked_test_starts():
    assert subprocess.run(TRUE, check=True).returncode == 0
