"""
Make a virtual environment and install the locked requirements into it.

`PYTHON tools/venv.py FOLDER`: with the interpreter that runs this script. Does
nothing if the folder holds what the lock file says. uv is used if it is there,
since it is faster; pip does the same.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)


def lock_file() -> Path:
    """Return the lock file for the Python that runs: Django 6.1 from 3.13 on."""
    newest = sys.version_info >= (3, 13)
    return ROOT / ("requirements-django61.txt" if newest else "requirements.txt")


def works(*command: str) -> bool:
    """Tell whether `command` is there and succeeds."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def create(folder: Path) -> None:
    """Make the environment, or make it anew if it is of another Python."""
    python = folder / "bin" / "python"
    ours = "import sys; sys.exit(sys.version_info[:2] != ({}, {}))"
    if works(str(python), "-c", ours.format(*sys.version_info[:2])):
        return
    print(f"Making {folder} with Python {sys.version.split()[0]}", flush=True)
    base = sys._base_executable or sys.executable  # noqa: SLF001 - the real one
    if works(base, "-c", "import ensurepip, venv"):
        command = [base, "-m", "venv", "--clear", str(folder)]
    elif works("uv", "--version"):
        command = ["uv", "venv", "--clear", "--seed", "--python", base, str(folder)]
    else:
        sys.exit(
            f"The interpreter {base!r} lacks the module venv. Install it "
            "(Debian: apt-get install python3-venv), or install uv."
        )
    subprocess.run(command, check=True)


def install(folder: Path, lock: Path) -> None:
    """
    Install what `lock` lists; every file must have a hash that stands there.

    The lock is whole, so nothing is resolved: pip before 23.3 takes the newest release
    for a dependency with an extra, as `coverage[toml]`, whatever the lock pins.
    """
    python = str(folder / "bin" / "python")
    options = ["install", "--no-deps", "--require-hashes", "-r", str(lock)]
    print(f"Installing {lock.name} into {folder}", flush=True)
    if works("uv", "--version"):
        uv = ["uv", "pip", *options, "--python", python, "--quiet"]
        if subprocess.run(uv, check=False).returncode == 0:
            return
        print("uv could not install it; trying pip.", flush=True)
    if not works(python, "-m", "pip", "--version"):
        subprocess.run([python, "-m", "ensurepip"], check=True)
    # Most modules are never imported; Python compiles the others as it needs them.
    quiet = ["--no-compile", "--quiet", "--disable-pip-version-check"]
    pip = [python, "-m", "pip", *options, *quiet]
    subprocess.run(pip, check=True)


def main(folder: Path) -> None:
    """Bring `folder` up to date."""
    if sys.version_info < OLDEST:
        sys.exit(
            f"Python {sys.version.split()[0]} is too old (3.11 or newer is needed). "
            "Name another one: PYTHON=python3.13 make ..."
        )
    lock = lock_file()
    wanted = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()
    stamp = folder / "installed.sha256"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    create(folder)
    install(folder, lock)
    stamp.write_text(wanted)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
