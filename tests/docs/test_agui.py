"""The examples of the page about AG-UI are carried out as they stand."""

import pytest

from tests.docs.blocks import ROOT, blocks, page
from tests.docs.test_rest import run
from tests.servers.process import python
from tests.web.rest.live import live_server

pytestmark = pytest.mark.timeout(300)

BLOCKS = blocks(page("docs/agui.md"))


def code_of(language: str) -> str:
    (code,) = [block.code for block in BLOCKS if block.language == language]
    return code


@pytest.fixture
def server(demo_server, model_server):
    return live_server(demo_server, model_server)


def test_examples(server, tmp_path):
    create = ["manage.py", "assistant_token", "create", "--user", "admin"]
    options = ["--name", "docs", "--scopes", "run,read"]
    secret = run(python(*create, *options), ROOT, **server.env).strip()
    known = {"SITE": server.url, "TOKEN": secret}

    shell = run(["bash", "-e", "-c", code_of("bash")], tmp_path, **known)
    said = run(python("-c", code_of("python")), tmp_path, **known)

    assert shell.startswith('data: {"type":"RUN_STARTED"')
    assert '"type":"RUN_FINISHED"' in shell.splitlines()[-2]
    assert "You said: How many sections are there?" in said
