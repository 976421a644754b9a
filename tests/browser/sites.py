"""Sites of other kinds for the panel to live in: themes, htmx of their own, policies."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.model_server import ModelServerProcess
from tests.servers.app import DemoServer

FORGED = ("live_settings", "hosts.settings")  # of which there are several servers


@contextmanager
def site(
    folder: Path,
    model: ModelServerProcess,
    settings: str,
    *,
    host: dict[str, Any] | None = None,
    assistant: dict[str, Any] | None = None,
    **env: str,
) -> Iterator[DemoServer]:
    """
    Serve `tests.<settings>`.

    `host` is what its pages have, see `tests.hosts.settings`; `assistant` goes over
    AI_ASSISTANT.
    """
    env = {
        "DJANGO_SETTINGS_MODULE": f"tests.{settings}",
        "TESTS_PROPOSALS": "1",
        "TESTS_HOST": json.dumps(host or {}),
        "TESTS_SETTINGS": json.dumps(assistant or {}),
        **env,
    }
    forged = settings in FORGED
    with DemoServer(folder, model_url=model.url, env=env, forged=forged) as server:
        yield server
