import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import chromium
from tests.copilotkit.front import WAIT_MS, FrontServer, Reader
from tests.copilotkit.packages import pages
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle
from tests.servers.ports import free_port
from tests.servers.process import ROOT
from tests.web.agui.site import Site

EVIDENCE = ROOT / "build" / "browser"
INSTALL_S = 1200
SCOPES = ("read", "run", "approve")

expect.set_options(timeout=WAIT_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)
            # The first of them on a machine waits for the packages.
            item.add_marker(pytest.mark.timeout(INSTALL_S))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="package")
def built() -> Path:
    """The pages, or why these tests are skipped."""
    return pages()


@pytest.fixture(scope="package")
def port(built: Path) -> int:
    """The pages' port: known first, for the assistant has to let them in."""
    return free_port()


@pytest.fixture(scope="package")
def site(
    port: int,
    model_server: ModelServerProcess,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("copilotkit")
    settings = {"CORS_ORIGINS": [f"http://127.0.0.1:{port}"]}
    env = {"TESTS_SETTINGS": json.dumps(settings)}
    url = model_server.url
    with DemoServer(folder, model_url=url, env=env, forged=True) as server:
        found = Site(server, model_server, Oracle(server.database_url))
        yield found
        found.close()


@pytest.fixture(scope="package")
def front(built: Path, port: int, site: Site) -> Iterator[FrontServer]:
    log = site.server.folder / "front.log"
    server = FrontServer(
        built, port=port, log=log, assistant=site.server.url, token=site.token(*SCOPES)
    )
    with server:
        yield server


@pytest.fixture
def reader(
    browser: Browser,
    front: FrontServer,
    site: Site,
    request: pytest.FixtureRequest,
) -> Iterator[Reader]:
    made = Reader(browser, {front.url, site.server.url})
    yield made
    name = re.sub(r"\W+", "-", request.node.nodeid.rpartition("/")[2])
    EVIDENCE.mkdir(parents=True, exist_ok=True)
    made.page.screenshot(path=EVIDENCE / f"{name}.png")
    assert made.leave() == []
