"""The benchmarks are run by hand: that what they import is there is seen here."""

from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "bench"
SETTINGS = "data_settings"  # of a process of its own


@pytest.mark.parametrize(
    "name", sorted({path.stem for path in FOLDER.glob("*.py")} - {SETTINGS})
)
def test_benchmark_finds_what_it_imports(name: str) -> None:
    assert import_module(f"tests.bench.{name}")
