import asyncio
import gc
import subprocess
import sys
import threading

import pytest

from ai_assistant.exceptions import ModelError
from ai_assistant.providers import litellm, warmup
from ai_assistant.providers.warmup import Warmup


@pytest.fixture(autouse=True)
def _nothing_started(monkeypatch):
    monkeypatch.setattr(warmup, "_started", [])


class TestWarmup:
    async def test_states(self):
        go = threading.Event()
        library = Warmup(lambda: go.wait(10))
        before = library.state
        library.start()
        during = library.state
        go.set()

        assert await library.wait() is True
        assert (before, during, library.state) == ("idle", "warming", "ready")

    async def test_loads_once_for_all(self):
        loads = []
        library = Warmup(lambda: loads.append(1) or object())

        found = await asyncio.gather(*(library.wait() for _ in range(5)))

        assert len(loads) == 1
        assert len(set(map(id, found))) == 1

    async def test_a_waiter_that_leaves_stops_nothing(self):
        go = threading.Event()
        library = Warmup(lambda: go.wait(10))
        waiter = asyncio.ensure_future(library.wait())
        await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.wait([waiter])
        go.set()

        assert await library.wait() is True

    async def test_failure_reaches_each_waiter(self):
        library = Warmup(lambda: 1 / 0)

        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                await library.wait()
        assert library.state == "failed"

    async def test_collector_works_again_after(self):
        during = await Warmup(gc.isenabled).wait()

        assert (during, gc.isenabled()) == (False, True)


class TestState:
    async def test_state_is_the_worst_of_all(self):
        seen = [warmup.state()]
        await Warmup(lambda: 1).wait()
        seen.append(warmup.state())
        go = threading.Event()
        slow = Warmup(lambda: go.wait(10))
        slow.start()
        seen.append(warmup.state())
        go.set()
        await slow.wait()
        with pytest.raises(ZeroDivisionError):
            await Warmup(lambda: 1 / 0).wait()

        assert [*seen, warmup.state()] == ["idle", "ready", "warming", "failed"]


ALONE = """
import asyncio, gc, socket, sys
from pathlib import Path
from ai_assistant.providers.litellm import LiteLLMProvider, ensure_loaded
assert "litellm" not in sys.modules, "imported too early"

connect = socket.socket.connect
def at_home(self, address):
    assert address[0] == "127.0.0.1", f"calls {address}"
    return connect(self, address)
socket.socket.connect = at_home
def resolve(host, *rest, **more):
    assert host == "127.0.0.1", f"resolves {host}"
    return real(host, *rest, **more)
real, socket.getaddrinfo = socket.getaddrinfo, resolve
Path(".env").write_text("AIA_FROM_DOTENV=1")

litellm = asyncio.run(ensure_loaded())
import os
assert "AIA_FROM_DOTENV" not in os.environ, "reads .env"
assert litellm.model_cost["gpt-4o-mini"], "has no prices"
assert litellm.telemetry is False
print("alone and well")
"""


class TestLitellm:
    @pytest.mark.servers
    def test_loads_late_quietly_and_without_network(self, tmp_path, request):
        done = subprocess.run(
            [sys.executable, "-W", "error::ResourceWarning", "-c", ALONE],
            cwd=tmp_path,
            env={"PYTHONPATH": str(request.config.rootpath), "PATH": ""},
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )

        assert (done.stdout, done.stderr) == ("alone and well\n", "")

    async def test_missing_package_is_named(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "litellm", None)
        monkeypatch.setattr(litellm, "LIBRARY", Warmup(litellm._load))

        with pytest.raises(ModelError) as caught:
            await litellm.ensure_loaded()

        assert caught.value.code == "not_configured"
        assert "pip install 'ai-assistant[litellm]'" in caught.value.detail
