"""How many transactions a usual run takes."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.bench.report import emit
from tests.servers.app import DemoServer
from tests.servers.prepared import prepare

TWO_SECONDS = {"op": "text", "text": "word " * 40, "rate": 20}
CALL = {"op": "tool_call", "name": "echo", "arguments": {"text": "again"}}
SCRIPT = [[TWO_SECONDS, CALL], [TWO_SECONDS, CALL], [TWO_SECONDS]]


def measure(base: str, folder: Path) -> None:
    """Print the commits of a run of 3 steps, 2 tools and 6 s of text."""
    body = json.dumps({"name": "commits", "steps": SCRIPT}).encode()
    address = f"{base.removesuffix('/v1')}/script"
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(
        urllib.request.Request(address, data=body, headers=headers, method="POST")
    ).close()
    where = folder / "commits"
    where.mkdir()
    server = DemoServer(where, model_url=base, lease_s=10)
    prepare(server.database_url, server.env)
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.count_commits"],
        env=server.env,
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    note = (
        f"{found['state']}, {found['steps']} steps, {found['calls']} tools, 6 s of text"
    )
    emit("commits_of_a_run", found["commits"], "commits", n=1, note=note)
    most = found["most_in_a_second"]
    emit("commits_most_in_a_second", most, "commits/s", n=1, note="text only")
