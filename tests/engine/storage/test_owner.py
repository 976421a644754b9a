"""A process on the same host can see that an owner is gone."""

import subprocess
import sys

import pytest

from ai_assistant.engine.storage.lease import is_gone, this_process
from tests.engine.conftest import dead_owner


@pytest.fixture
def child():
    """Another process, which says which owner it is and waits."""
    code = (
        "import django; django.setup();"
        "from ai_assistant.engine.storage.lease import this_process;"
        "print(this_process(), flush=True); input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield process
        process.kill()


class TestIsGone:
    def test_this_process_is_there(self):
        assert not is_gone(this_process())

    @pytest.mark.servers
    def test_another_is_there_until_it_is_dead(self, child):
        owner = child.stdout.readline().strip()

        assert owner != this_process()
        assert not is_gone(owner)

        child.kill()
        child.wait()
        assert is_gone(owner)

    @pytest.mark.servers
    def test_unreaped_is_gone(self, child):
        owner = child.stdout.readline().strip()
        child.kill()
        child.stdout.read()  # ends when the process does

        while not is_gone(owner):
            pass  # the kernel may need a moment from the last byte to the zombie

    def test_same_pid_later(self):
        assert is_gone(dead_owner())

    @pytest.mark.parametrize("part", [0, 1, 2], ids=["host", "namespace", "boot"])
    def test_elsewhere_cannot_be_known(self, part):
        parts = this_process().split("|")
        parts[part] = "other"
        parts[3] = "999999999"

        assert not is_gone("|".join(parts))

    @pytest.mark.parametrize("owner", ["", "worker-1"])
    def test_no_owner_at_all(self, owner):
        assert is_gone(owner)
