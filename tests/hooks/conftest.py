"""Hooks for one test, and the runs of the engine's own tests."""

import pytest

from ai_assistant.registry import registry
from tests.engine.conftest import *  # noqa: F403 - its fixtures


@pytest.fixture(autouse=True)
def _own_hooks():
    """Register hooks in the test only."""
    with registry.restored():
        registry._registry = {
            key: part for key, part in registry._registry.items() if key[0] != "hooks"
        }
        yield
