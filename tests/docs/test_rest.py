"""The examples of the page about the REST API are carried out as they stand."""

import json
import os
import subprocess

import pytest

from tests.docs.blocks import ROOT, blocks, page
from tests.servers.process import python
from tests.web.rest.live import live_server

pytestmark = pytest.mark.timeout(300)

BLOCKS = blocks(page("docs/rest.md"))


def code_of(language: str) -> list[str]:
    return [
        block.code for block in BLOCKS if block.language == language and not block.file
    ]


@pytest.fixture
def server(demo_server, model_server):
    return live_server(demo_server, model_server)


def run(command, folder, **environment) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_PROXY": "*", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def test_examples(server, tmp_path):
    (creates,) = [one for one in code_of("console") if "assistant_token" in one]
    arguments = creates.replace("--user ada", "--user admin").split()[2:]
    secret = run(python(*arguments), ROOT, **server.env).strip()
    known = {"SITE": server.url, "TOKEN": secret}
    commands = "\n".join(code_of("bash"))
    (example,) = code_of("python")

    shell = run(["bash", "-e", "-c", commands], tmp_path, **known)
    said = run(python("-c", example), tmp_path, **known)

    started = json.loads((tmp_path / "run.json").read_text())
    answers = answers_in(shell)
    assert answers[0]["id"] == started["id"] == answers[3]["id"]
    assert answers[1]["run"] == started["id"]
    assert answers[2]["results"] == []
    assert said.count("You said: How many questionnaires are there?") == 2
    assert "invalid" in said.splitlines()[-1]


def answers_in(text: str) -> list[dict]:
    """Return the JSON objects that stand one after another."""
    found, decoder, at = [], json.JSONDecoder(), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found
