"""
Check scripts and style sheets with Node: lint and format, types, unit tests.

What does it is named by `package.json`, and installed into `node_modules` when the
lock file has changed. Without Node, npm or a registry that npm reaches, nothing is
checked, and this says so.
"""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "package-lock.json"
INSTALLED = ROOT / "node_modules" / ".installed"
OLDEST = 20  # of Node, that all packages run on
UNREACHED = re.compile(r"\b(ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|ENETUNREACH)\b")
STEPS = ("lint", "types", "test")


def leave_out(reason: str) -> None:
    """Say that nothing is checked, so that nobody takes silence for a success."""
    line = f"NOT CHECKED: scripts and style sheets ({', '.join(STEPS)}). {reason}"
    print(f"\n{'!' * len(line)}\n{line}\n{'!' * len(line)}\n", flush=True)


def missing_program() -> str:
    """Return what keeps the checks from being run; empty if nothing does."""
    if not (shutil.which("node") and shutil.which("npm")):
        return "Node.js or npm is not installed: install Debian's nodejs and npm."
    said = subprocess.run(["node", "-v"], capture_output=True, text=True, check=True)
    version = said.stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < OLDEST:
        return f"Node.js {version} is older than {OLDEST}: install a newer one."
    return ""


def install() -> str:
    """Install the packages of the lock file; return why they cannot be had."""
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if INSTALLED.is_file() and INSTALLED.read_text() == digest:
        return ""
    ended = subprocess.run(
        ["npm", "ci", "--ignore-scripts", "--loglevel=error"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ended.returncode and UNREACHED.search(ended.stdout):
        return "npm does not reach its registry: try again when it can be reached."
    if ended.returncode:
        raise SystemExit(f"npm ci failed:\n{ended.stdout[-4000:]}")
    INSTALLED.write_text(digest)
    return ""


def run(step: str) -> int:
    """Run a script of package.json; return its exit code."""
    return subprocess.run(
        ["npm", "run", "--silent", step], cwd=ROOT, check=False
    ).returncode


def main() -> int:
    """Run all steps, also behind one that fails."""
    if reason := missing_program() or install():
        leave_out(reason)
        return 0
    return max([run(step) for step in STEPS])


if __name__ == "__main__":
    sys.exit(main())
