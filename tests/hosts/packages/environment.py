"""
The packages of a site, beside those of the project.

Each has a folder of its own in `build/hosts/`, made from a lock file: what uv resolves
for it, less what the project has itself. There is one for each line of the project:
Python 3.11 with Django 5.2, and Python 3.13 with Django 6.1.
`python -m tests.hosts.packages.environment [NAME ...]` writes them.
"""

import ast
import hashlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
SITES = FOLDER / "sites"
LOCKS = FOLDER / "locks"
ROOT = FOLDER.parents[2]
COMPILE = (
    *("uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"),
    *("--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate"),
)


class UnsupportedError(Exception):
    """The packages of a site do not go with this Django."""


@dataclass(frozen=True, slots=True)
class Line:
    """A Python with a Django, and what is installed for it."""

    python: str
    project: Path  # the lock file of the project
    locks: Path
    built: Path
    refuses: str = ""  # of a site.py: why its packages are not for this line


DEFAULT = Line("3.11.5", ROOT / "requirements.txt", LOCKS, ROOT / "build" / "hosts")
NEWEST = Line(
    "3.13",
    ROOT / "requirements-django61.txt",
    LOCKS / "django61",
    ROOT / "build" / "hosts-django61",
    refuses="NOT_ON_DJANGO_61",
)
LINES = (DEFAULT, NEWEST)


def this_line() -> Line:
    """Return the line of the Python that runs, as `make venv` has it."""
    return NEWEST if sys.version_info >= (3, 13) else DEFAULT


def site_names() -> list[str]:
    """Return the names of all sites."""
    return sorted(path.parent.name for path in SITES.glob("*/site.py"))


def install(name: str) -> Path:
    """
    Return the folder with the packages of a site.

    Raise UnsupportedError, and CalledProcessError where they cannot be had.
    """
    line = this_line()
    if reason := constant(name, line.refuses):
        raise UnsupportedError(reason)
    lock, folder = line.locks / f"{name}.txt", line.built / name
    wanted = lock.read_bytes() if lock.exists() else b""
    stamp = folder / "installed.sha256"
    digest = hashlib.sha256(wanted + sys.version.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    if wanted:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade"]
        # Most of it is never imported: what is, is compiled by who does so first.
        options = ["--no-deps", "--require-hashes", "--no-compile"]
        options += ["--target", str(folder)]
        subprocess.run([*pip, *options, "-r", str(lock)], check=True)
    stamp.write_text(digest)
    return folder


def run_in(
    name: str, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str] | None:
    """Run Python on a site; None if that cannot be installed, which is told."""
    try:
        folder = install(name)
    except UnsupportedError as error:
        print(f"{name}: SKIPPED, {error}", flush=True)
        return None
    except subprocess.CalledProcessError:
        print(f"{name}: SKIPPED, its packages cannot be installed here", flush=True)
        return None
    environment = {
        **os.environ,
        **variables,
        "HOSTS_PACKAGE": name,
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
    }
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
    )


def write_lock(name: str, line: Line) -> None:
    """Write the lock file of a site anew; needs uv."""
    required = constant(name, "REQUIRES")
    if not required or constant(name, line.refuses):
        return
    own = _pins(line.project)
    line.locks.mkdir(parents=True, exist_ok=True)
    constraints = line.locks / "constraints.in"
    constraints.write_text("\n".join(f"{key}=={pin}" for key, pin in own.items()))
    options = ["--python-version", line.python, "-", "--constraint", str(constraints)]
    try:
        result = subprocess.run(
            [*COMPILE, *options],
            check=True,
            input=required,
            text=True,
            stdout=subprocess.PIPE,
        )
    finally:
        constraints.unlink()
    entries = re.split(r"\n(?=[a-z0-9])", result.stdout.strip())
    added = [one for one in entries if one.partition("==")[0] not in own]
    (line.locks / f"{name}.txt").write_text("\n".join(added) + "\n")


def constant(site: str, name: str) -> str:
    """Return a text of a site.py, whose packages may not be there; empty if not set."""
    tree = ast.parse((SITES / site / "site.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return str(ast.literal_eval(node.value))
    return ""


def _pins(lock: Path) -> dict[str, str]:
    return dict(
        re.findall(r"^([a-z0-9._-]+)(?:\[.*\])?==([^ ;\\]+)", lock.read_text(), re.M)
    )


if __name__ == "__main__":
    for each in sys.argv[1:] or site_names():
        for one in LINES:
            write_lock(each, one)
