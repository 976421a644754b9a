import time
from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("tests.agui.client")

from tests.model_server import ModelServerProcess  # noqa: E402 - after the line above
from tests.servers.app import DemoServer  # noqa: E402
from tests.servers.measured import measured  # noqa: E402
from tests.servers.oracle import Oracle  # noqa: E402
from tests.web.agui.site import ENV, Site  # noqa: E402

# One that hangs for good writes nothing.
SETTLE_S = 15.0
WORKING = "SELECT id FROM ai_assistant_run WHERE state IN ('queued', 'running')"


# Of the session: tests come in any order, and a package's would be started over and over.
@pytest.fixture(scope="session")
def site(
    tmp_path_factory: pytest.TempPathFactory, model_server: ModelServerProcess
) -> Iterator[Site]:
    """The site of all tests that leave its server alive."""
    folder = tmp_path_factory.mktemp("agui")
    lines = measured(folder)
    with DemoServer(
        folder, model_url=model_server.url, env={**ENV, **lines}, forged=not lines
    ) as server:
        found = Site(server, model_server, Oracle(server.database_url))
        yield found
        found.close()
        server.web.terminate()  # it writes down which lines it has run


@pytest.fixture(autouse=True)
def _settled(request: pytest.FixtureRequest) -> None:
    """Begin when what the test before has left is at its end, so that rows can be counted."""
    if "site" not in request.fixturenames:
        return
    oracle: Oracle = request.getfixturevalue("site").oracle
    end = time.monotonic() + SETTLE_S
    while oracle.rows(WORKING) and time.monotonic() < end:
        time.sleep(0.02)
