"""A program at the demo served for real; its token is revoked by another process."""

import json
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest

from tests.servers.client import plain_client

pytestmark = pytest.mark.broad

ROOT = Path(__file__).resolve().parents[2]


def manage(server, *words):
    """Run a command of the site in a process of its own; return its output."""
    done = subprocess.run(
        [sys.executable, "manage.py", "assistant_token", *words],
        cwd=ROOT,
        env=server.env,
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def said(text):
    """Return a RunAgentInput that says `text` in a new thread."""
    return {
        "threadId": str(uuid4()),
        "runId": str(uuid4()),
        "state": {},
        "messages": [{"id": str(uuid4()), "role": "user", "content": text}],
        "tools": [],
        "context": [],
        "forwardedProps": {},
        "protocolVersion": "1.0",
    }


def events(response):
    for line in response.iter_lines():
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))


def closed(model_server, tag: str) -> list:
    """Return the requests of `tag` when the model server has noticed their end."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        found = [row for row in model_server.log() if row["tag"] == tag]
        if all(row["outcome"] for row in found):
            break
        time.sleep(0.05)
    return found


@pytest.mark.timeout(240)
def test_revoked_token_stops_what_it_has_started(demo_server, model_server):
    server = demo_server(forged=True).start()
    secret = manage(
        server, *("create", "--user", "admin", "--name", "live"), "--scopes=read,run"
    )
    headers = {"Authorization": f"Bearer {secret}", "Accept": "text/event-stream"}
    http = plain_client(server.url, timeout=60)
    tag = f"revoked-{uuid4().hex[:8]}"
    body = said(f"[[script:stream#{tag} tokens=20000 rate=20]]")

    with http.stream("POST", "/assistant/agui/", json=body, headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        heard = events(answer)
        kinds = [next(one["type"] for one in heard if one["type"].endswith("_CONTENT"))]
        assert "Revoked:" in manage(server, "revoke", secret[:12])
        last = list(heard)[-1]
    again = http.post("/assistant/agui/", json=said("Hello"), headers=headers)
    (call,) = closed(model_server, tag)

    assert kinds == ["TEXT_MESSAGE_CONTENT"]
    assert last["type"] in ("RUN_FINISHED", "RUN_ERROR")
    assert call["outcome"] == "closed"
    assert again.status_code == 401
    assert again.json()["detail"] == "This access token was revoked."
    assert secret[4:] not in server.output()
