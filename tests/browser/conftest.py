import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import scripts
from tests.browser.chromium import chromium
from tests.browser.environment import ENV
from tests.browser.panel import WAIT_S, Panel
from tests.browser.visitor import Visitor, forget_sessions
from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer
from tests.servers.oracle import Oracle

EVIDENCE = Path(__file__).resolve().parents[2] / "build" / "browser"
FAILED = pytest.StashKey[bool]()

expect.set_options(timeout=WAIT_S * 1000)  # of all tests here, whichever are run


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    # Not for the whole session: while it runs, no other event loop can.
    with chromium() as started:
        yield started


@pytest.fixture(scope="package")
def model(model_server: ModelServerProcess) -> ModelServerProcess:
    scripts.register(model_server)
    return model_server


@pytest.fixture(scope="package")
def server(
    tmp_path_factory: pytest.TempPathFactory, model: ModelServerProcess
) -> Iterator[DemoServer]:
    """The server of all tests that leave it alive, with a strict policy."""
    folder = tmp_path_factory.mktemp("server")
    with DemoServer(folder, model_url=model.url, env=ENV, forged=True) as started:
        yield started


@pytest.fixture
def own_server(
    tmp_path: Path, model: ModelServerProcess, request: pytest.FixtureRequest
) -> Iterator[Callable[..., DemoServer]]:
    """
    Make a server for one test, which may kill it.

    It starts without its imports, and with `ENV` as the shared one, unless it is WSGI.
    """
    with ExitStack() as stack:
        servers: list[DemoServer] = []

        def make(**options: Any) -> DemoServer:
            if not options.get("wsgi"):
                options["env"] = {**ENV, **options.get("env", {})}
            options.setdefault("forged", True)
            servers.append(DemoServer(tmp_path, model_url=model.url, **options))
            stack.push(servers[-1].__exit__)
            forget_sessions(servers[-1].url)
            return servers[-1].start()

        yield make
        if request.node.stash.get(FAILED, False):
            said = "\n".join(server.output() for server in servers)
            _evidence(request.node, ".log").write_text(said)


@pytest.fixture
def visit(
    browser: Browser, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Visitor]]:
    """
    Make people with a browser each: `visit(server)`, `visit(server, "viewer")`.

    At the end of the test nothing may have happened on their pages that never must.
    """
    visitors: list[Visitor] = []

    def make(
        server: DemoServer, name: str = "admin", *, url: str = "", **options: Any
    ) -> Visitor:
        if url:  # of a proxy, whose port may have been another's before
            forget_sessions(url)
        visitors.append(Visitor(browser, url or server.url, name, **options))
        return visitors[-1]

    yield make
    if request.node.stash.get(FAILED, False):
        _take_pictures(visitors, request.node)
    troubles = [trouble for visitor in visitors for trouble in visitor.leave()]
    assert troubles == []


@pytest.fixture(scope="package")
def regular(browser: Browser, server: DemoServer) -> Iterator[Visitor]:
    """The admin, whose browser serves many tests."""
    visitor = Visitor(browser, server.url)
    yield visitor
    visitor.leave()


@pytest.fixture
def tab(regular: Visitor, request: pytest.FixtureRequest) -> Iterator[Panel]:
    """
    A tab of the admin without a page yet, on the shared server.

    The panel of its pages is open, in a new conversation.
    """
    tab = regular.start_over()
    yield tab
    if request.node.stash.get(FAILED, False):
        _take_pictures([regular], request.node)
    assert regular.watch.take() == []


@pytest.fixture
def panel(tab: Panel) -> Panel:
    """The open panel on the first page of the admin."""
    tab.goto()
    return tab


@pytest.fixture
def oracle(server: DemoServer) -> Oracle:
    """Looks into the database of the shared server."""
    return Oracle(server.database_url)


def _evidence(test: pytest.Item, ending: str) -> Path:
    EVIDENCE.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"\W+", "-", test.nodeid.rpartition("/")[2])
    return EVIDENCE / f"{name}{ending}"


def _take_pictures(visitors: list[Visitor], test: pytest.Item) -> None:
    pages = [page for visitor in visitors for page in visitor.context.pages]
    for number, page in enumerate(pages):
        page.screenshot(path=_evidence(test, f"-{number}.png"))
