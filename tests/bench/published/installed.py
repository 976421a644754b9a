"""Environments with only what a site installs."""

import subprocess
import sys
import venv
from functools import cache
from pathlib import Path

from tests.servers.process import ROOT

# What the demo needs besides, on any of its servers and with AG-UI.
OF_DEMO = ("daphne", "uvicorn[standard]", "granian", "django-htmx")


def install(place: Path, *requirements: str) -> Path:
    """Make an environment with the requirements; return its interpreter."""
    venv.create(place, clear=True, with_pip=False)
    python = place / "bin/python"
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    pip += ["install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *requirements], check=True)
    return python


@cache
def python_of_demo() -> str:
    """
    Return the interpreter that serves the demo.

    The one of the tests has psycopg and requests too, which Django REST framework loads
    where it finds them.
    """
    place = ROOT / "build" / "figures"
    return str(install(place, f"{ROOT}[openai,agui]", *OF_DEMO))
