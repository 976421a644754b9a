"""The benchmarks are run by hand: that what they import is there is seen here."""

from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "bench"
SETTINGS = "data_settings"  # of a process of its own


def names() -> list[str]:
    files = [path.relative_to(FOLDER) for path in FOLDER.rglob("*.py")]
    return sorted(".".join(file.with_suffix("").parts) for file in files)


@pytest.mark.parametrize("name", [name for name in names() if name != SETTINGS])
def test_benchmark_finds_what_it_imports(name: str) -> None:
    assert import_module(f"tests.bench.{name}")
