"""
The packages of a site, beside those of the project.

Each has a folder of its own in `build/hosts/`, made from a lock file: what `make lock`
lists for it, less what the project has itself.
"""

import ast
import hashlib
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
SITES = FOLDER / "sites"
LOCKS = FOLDER / "locks"
ROOT = FOLDER.parents[2]
BUILT = ROOT / "build" / "hosts"
COMPILE = (
    *("uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"),
    *("--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate"),
    *("--python-version", "3.11.5", "-"),
)


def site_names() -> list[str]:
    """Return the names of all sites."""
    return sorted(path.parent.name for path in SITES.glob("*/site.py"))


def install(name: str) -> Path:
    """Return the folder with the packages of a site. Raise CalledProcessError."""
    lock, folder = LOCKS / f"{name}.txt", BUILT / name
    wanted = lock.read_bytes() if lock.exists() else b""
    stamp = folder / "installed.sha256"
    digest = hashlib.sha256(wanted + sys.version.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    if wanted:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade"]
        options = ["--no-deps", "--require-hashes", "--target", str(folder)]
        subprocess.run([*pip, *options, "-r", str(lock)], check=True)
    stamp.write_text(digest)
    return folder


def write_lock(name: str) -> None:
    """Write the lock file of a site anew; needs uv."""
    required = _requirement(name)
    if not required:
        return
    own = _pins(ROOT / "requirements.txt")
    constraints = LOCKS / "constraints.in"
    constraints.write_text("\n".join(f"{key}=={pin}" for key, pin in own.items()))
    try:
        result = subprocess.run(
            [*COMPILE, "--constraint", str(constraints)],
            check=True,
            input=required,
            text=True,
            stdout=subprocess.PIPE,
        )
    finally:
        constraints.unlink()
    entries = re.split(r"\n(?=[a-z0-9])", result.stdout.strip())
    added = [one for one in entries if one.partition("==")[0] not in own]
    (LOCKS / f"{name}.txt").write_text("\n".join(added) + "\n")


def _requirement(name: str) -> str:
    """Return REQUIRES of a site, whose packages may not be there yet."""
    tree = ast.parse((SITES / name / "site.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "REQUIRES":
            return str(ast.literal_eval(node.value))
    raise SystemExit(f"The site {name!r} has no REQUIRES in its site.py.")


def _pins(lock: Path) -> dict[str, str]:
    return dict(
        re.findall(r"^([a-z0-9._-]+)(?:\[.*\])?==([^ ;\\]+)", lock.read_text(), re.M)
    )


if __name__ == "__main__":
    LOCKS.mkdir(exist_ok=True)
    for each in sys.argv[1:] or site_names():
        write_lock(each)
