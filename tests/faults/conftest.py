"""
A site for each layout, shared by the tests that run on it.

FAULTS_LAYOUTS names the layouts; without it each test runs on the smallest one that
it can use, and those that ask for `each_site` on the grown one too. FAULTS_STRIKES
is how often the processes of a layout are struck, FAULTS_TRIALS how often a test
repeats what it can repeat, FAULTS_SEED what the dice begin with.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import pytest

pytest.register_assert_rewrite("tests.faults.watching")

from tests.faults import scripts  # noqa: E402 - after what changes its import
from tests.faults.site import DEAF, LAYOUTS, Site, running  # noqa: E402
from tests.model_server import ModelServerProcess  # noqa: E402

SMALL, GROWN = "sqlite-memory", "postgres-redis"
# Fixture -> the layouts by default, and a word in the names of all it can use.
SITES = {
    "site": ([SMALL], ""),
    "each_site": ([SMALL, GROWN], ""),
    "redis_site": ([GROWN], "redis"),
    "postgres_site": ([GROWN], "postgres"),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    named = [*filter(None, os.environ.get("FAULTS_LAYOUTS", "").split(","))]
    for fixture, (default, word) in SITES.items():
        if fixture in metafunc.fixturenames:
            usable = [name for name in named or default if word in name]
            metafunc.parametrize("layout", usable)
    if "deaf_site" in metafunc.fixturenames:
        usable = [*DEAF] if SMALL in (named or [SMALL]) else []
        metafunc.parametrize("layout", usable)


@pytest.fixture(scope="session")
def strikes() -> int:
    return int(os.environ.get("FAULTS_STRIKES", "15"))


@pytest.fixture(scope="session")
def trials() -> int:
    return int(os.environ.get("FAULTS_TRIALS", "2"))


@pytest.fixture
def figure(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Callable[[str, Sequence[float]], None]:
    """Note a figure of a test: it is printed, and is in the report."""

    def note(name: str, values: Sequence[float]) -> None:
        worst, many = max(values), len(values)
        said = f"{name}: {worst:.2f}" + (f" at most, of {many}" if many > 1 else "")
        record_property("figure", said)
        print(f"\n{request.node.name}: {said}")

    return note


@pytest.fixture(scope="session")
def sites(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    model_server: ModelServerProcess,
) -> Iterator[Callable[[str], Site]]:
    """Return the site of a layout; one that was started stays until the end."""
    running_ones: dict[str, Site] = {}
    with ExitStack() as stack:

        def get(name: str) -> Site:
            if name not in running_ones:
                layout = {**LAYOUTS, **DEAF}[name]
                postgres = None
                if layout.database == "postgres":
                    postgres = request.getfixturevalue("postgres_server")
                folder = tmp_path_factory.mktemp(name)
                site = stack.enter_context(
                    running(layout, folder, model=model_server, postgres=postgres)
                )
                scripts.register(site)
                running_ones[name] = site
            return running_ones[name]

        yield get


@pytest.fixture
def site(sites: Callable[[str], Site], layout: str) -> Site:
    """A site of which everything runs."""
    found = sites(layout)
    found.up()
    return found


# The same, on other layouts; see SITES.
each_site = redis_site = postgres_site = deaf_site = site
