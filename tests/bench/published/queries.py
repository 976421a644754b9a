"""The plans of the hot statements, on SQLite and PostgreSQL, beside 100,000 messages."""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.published import results
from tests.bench.published.growth import OTHERS, SIZES, seed
from tests.bench.published.subjects import demo
from tests.model_server import ModelServerProcess
from tests.servers.postgres import PostgresServer
from tests.servers.process import ROOT, python


def measure() -> None:
    """Fill each database and explain what is asked of it."""
    loads = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as name, ModelServerProcess() as model:
        folder = Path(name)
        found: dict[str, Any] = {}
        found["sqlite"] = _explained(folder, model, f"sqlite:///{folder}/db.sqlite3")
        with PostgresServer() as server:
            found["postgres"] = _explained(folder, model, server.new_database())
    loads.append(os.getloadavg()[0])
    found["messages"] = sum(SIZES) + OTHERS
    results.save("queries", found, loads)


def _explained(folder: Path, model: ModelServerProcess, database: str) -> Any:
    with demo(folder, model.base, server="uvicorn", database=database):
        pass  # makes tables and users
    seed(database, SIZES, OTHERS)
    done = subprocess.run(
        python("-m", "tests.bench.published.hot_queries"),
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "project.settings",
            "DJANGO_DEBUG": "0",
            "DATABASE_URL": database,
            "ASSISTANT_UNLIMITED": "1",
            "ASSISTANT_TITLES": "0",
            "ASSISTANT_MODEL": "openai/scripted",
            "ASSISTANT_API_BASE": model.base,
            "ASSISTANT_API_KEY": "sk-test",
        },
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])
