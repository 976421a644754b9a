"""Hooks for one test, and the runs of the engine's own tests."""

import threading

import pytest

from ai_assistant.hooks import lending, passes
from ai_assistant.registry import registry
from tests.engine.conftest import *  # noqa: F403 - its fixtures
from tests.hooks.lent import WAIT_S


@pytest.fixture(autouse=True)
def _own_hooks():
    """Register hooks in the test only."""
    with registry.restored():
        registry._registry = {
            key: part for key, part in registry._registry.items() if key[0] != "hooks"
        }
        yield


@pytest.fixture
def lent_soon(monkeypatch):
    """A thread is lent soon, and only to hooks that take long here."""
    monkeypatch.setattr(lending, "LONG_S", 0.02)
    monkeypatch.setattr(passes, "START_S", 3600)


@pytest.fixture
def hanging():
    """A hook that hangs until the test is over."""
    over = threading.Event()

    def hangs(context, asked):
        over.wait(2 * WAIT_S)

    yield hangs
    over.set()
