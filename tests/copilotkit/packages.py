"""
CopilotKit and what it needs, installed once a machine and outside the checkout.

The folder is named by the lock file; the pages in it by their sources. Node and npm
have to be there, and npm has to reach its registry the first time; else the tests
that ask for it are skipped, and say so.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LOCK = ("package.json", "package-lock.json")
SOURCES = (
    *("approvals.jsx", "build.mjs", "chat.jsx", "direct.mjs"),
    *("runtime.mjs", "serve.mjs"),
)
NODE = 20  # the oldest that the packages run on
INSTALL_S = 900
BUILD_S = 200
UNREACHED = re.compile(r"\b(ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ENETUNREACH)\b")


def pages() -> Path:
    """Return the folder with `serve.mjs`, and the pages for a browser in `out`."""
    _need_node()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    packages = cache / "ai-assistant-tests" / f"copilotkit-{_digest(LOCK)}"
    packages.mkdir(parents=True, exist_ok=True)
    with _alone(packages / "lock"):
        _install(packages)
        return _built(packages / f"pages-{_digest(SOURCES)}")


def _need_node() -> None:
    found = shutil.which("node"), shutil.which("npm")
    if not all(found):
        pytest.skip("Node.js or npm is not installed: CopilotKit is not tried.")
    version = subprocess.run(["node", "-v"], capture_output=True, text=True, check=True)
    if int(version.stdout.strip().lstrip("v").split(".")[0]) < NODE:
        pytest.skip(f"Node.js is older than {NODE}: CopilotKit is not tried.")


def _install(packages: Path) -> None:
    done = packages / "installed"
    if done.exists():
        return
    for name in LOCK:
        shutil.copy(HERE / name, packages)
    # No scripts: one of them tells its maker of the install, none is needed.
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    ended = _run(packages, INSTALL_S, "npm", "ci", *quiet)
    if ended.returncode and UNREACHED.search(ended.stdout):
        pytest.skip("npm does not reach its registry: CopilotKit is not tried.")
    if ended.returncode:
        raise AssertionError(f"npm ci failed:\n{ended.stdout[-4000:]}")
    done.touch()


def _built(folder: Path) -> Path:
    if (folder / "built").exists():
        return folder
    folder.mkdir(exist_ok=True)
    for name in SOURCES:
        shutil.copy(HERE / name, folder)
    ended = _run(folder, BUILD_S, "node", "build.mjs", "out")
    if ended.returncode:
        raise AssertionError(f"The pages could not be built:\n{ended.stdout[-4000:]}")
    (folder / "built").touch()
    return folder


def _run(
    folder: Path, timeout_s: float, *command: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def _digest(names: tuple[str, ...]) -> str:
    texts = b"\0".join((HERE / name).read_bytes() for name in names)
    return hashlib.sha256(texts).hexdigest()[:16]


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one process in at a time: tests may run in several."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    pages()
