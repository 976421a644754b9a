"""A real server with the API, tokens of two users, and something of each to see."""

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from ai_assistant.client import Assistant
from tests.model_server.scripts import call, text
from tests.servers.process import python

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = {
    "api-writes": [
        [call("slow_write", {"seconds": 0, "text": "a row"})],
        [text("Done.")],
    ],
    "api-asks": [[call("needs_approval", {"text": "an effect"})], [text("Done.")]],
}
NO_LIMITS = {"RATES": {"API": "", "API_WRITE": "", "UNKNOWN_TOKENS": ""}}


def live_server(demo_server, model_server, **options):
    """Return a started server whose model knows the scripts above."""
    for name, steps in SCRIPTS.items():
        model_server.script(name, steps)
    env = {"TESTS_SETTINGS": json.dumps(NO_LIMITS), **options.pop("env", {})}
    return demo_server(env=env, forged=True, **options).start()


def token(server, user: str, scopes: str = "read,run,approve") -> str:
    """Return the secret of a new access token."""
    made = subprocess.run(
        python(
            *("manage.py", "assistant_token", "create", "--user", user),
            *("--name", "test", "--scopes", scopes),
        ),
        cwd=ROOT,
        env=server.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def client(server, user: str) -> Assistant:
    return Assistant(f"{server.url}/assistant/api/", token(server, user))


@dataclass(kw_only=True)
class Owned:
    """What one user has: ids by what they are of, and words that nobody else reads."""

    name: str
    assistant: Assistant
    token: str
    ids: dict[str, list[str]] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.assistant._to.url.rstrip("/")


def fill(server, name: str, secret: str) -> Owned:
    """Let a user have a run that has ended, one that waits, and what belongs to them."""
    assistant = Assistant(f"{server.url}/assistant/api/", secret)
    word = f"only-{name}-reads-this"
    for script in ("api-writes", "api-asks"):
        run = assistant.start(f"[[script:{script}]] {word}")
        assistant.wait(run.id, timeout_s=60)
    (asked,) = assistant.interrupts(run=run.id, open=True)
    ids = {
        "runs": [str(one.id) for one in assistant.runs(page_size=5)],
        "conversations": [str(one.id) for one in assistant.conversations(page_size=5)],
        "interrupts": [str(asked.id)],
        "calls": [str(one.id) for one in assistant.calls()],
        "changes": [str(one.id) for one in assistant.changes()],
    }
    ids["messages"] = [
        str(one.id) for key in ids["conversations"] for one in assistant.messages(key)
    ]
    assert all(ids.values()), ids
    words = [word, str(asked.nonce)]
    return Owned(name=name, assistant=assistant, token=secret, ids=ids, secrets=words)
