"""
Fetch a corpus by the ordinary client of its registry, and check that it is the one.

Nothing of a corpus is kept in the repository but its hash. One that cannot be had
skips its test, and says so.
"""

import ast
import hashlib
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import pytest

CACHE = Path(__file__).parents[2] / "build" / "corpora"
FETCH_TIMEOUT_S = 90


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """A package with a list of strings."""

    file: str  # its name, once it is fetched
    sha256: str
    command: tuple[str, ...]  # fetches it into the current folder
    read: Callable[[Path], list[str]]


def corpus(name: str) -> list[str]:
    """Return the strings of that corpus. Skip the test if it cannot be had."""
    found = CORPORA[name]
    try:
        return list(dict.fromkeys(filter(None, found.read(_fetched(found)))))
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        pytest.skip(f"corpus {name} absent: not shown ({type(error).__name__})")


def _fetched(wanted: Corpus) -> Path:
    path = CACHE / wanted.file
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=CACHE) as folder:
            subprocess.run(
                wanted.command,
                cwd=folder,
                check=True,
                capture_output=True,
                timeout=FETCH_TIMEOUT_S,
            )
            (Path(folder) / wanted.file).rename(path)
    if hashlib.sha256(path.read_bytes()).hexdigest() != wanted.sha256:
        raise ValueError(f"{wanted.file!r} is not the file whose hash is known.")
    return path


def _blns(path: Path) -> list[str]:
    with tarfile.open(path) as archive:
        member = archive.extractfile("package/resources/blns.json")
        assert member is not None
        return json.loads(member.read())


def _wfuzz(path: Path) -> list[str]:
    with TemporaryDirectory() as folder:
        _unpack(path, folder)
        lists = sorted(Path(folder).glob("usr/share/wfuzz/wordlist/Injections/*.txt"))
        texts = [one.read_text("utf-8", "surrogateescape") for one in lists]
    return [line for text in texts for line in text.splitlines()]


def _sqlmap(path: Path) -> list[str]:
    with TemporaryDirectory() as folder:
        _unpack(path, folder)
        files = sorted(Path(folder).glob("usr/share/sqlmap/data/xml/payloads/*.xml"))
        tests = [test for one in files for test in ET.parse(one).iter("test")]  # noqa: S314 - of a known hash
    said = [
        test.findtext("request/payload") or test.findtext("vector") for test in tests
    ]
    return [_filled(text) for text in said if text]


def _agentdojo(path: Path) -> list[str]:
    """Return the goals of the injection tasks of all versions, without running them."""
    goals: list[str] = []
    with zipfile.ZipFile(path) as wheel:
        for name in sorted(wheel.namelist()):
            if name.endswith("/injection_tasks.py"):
                goals += _goals(ast.parse(wheel.read(name)))
    return goals


def _goals(module: ast.Module) -> Iterator[str]:
    own = _constants(module.body, {})
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            goal = _constants(node.body, own).get("GOAL")
            if goal:
                yield goal


def _constants(body: list[ast.stmt], known: dict[str, str]) -> dict[str, str]:
    """Return the texts that are given names there; a hole takes the name that it has."""
    found = dict(known)
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            text = _text(node.value, found)
            if text is not None:
                found[node.targets[0].id] = text
    return found


def _text(node: ast.expr, known: dict[str, str]) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, known) or "" for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return known.get(ast.unparse(node.value), ast.unparse(node.value))
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None  # type: ignore[attr-defined, return-value]


def _injection_bench(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as wheel:
        lines = wheel.read("aib/data/attacks.jsonl").decode().splitlines()
    # One of a conversation has several texts; a control has none that is planted.
    cases = [json.loads(line) for line in lines if line.strip()]
    return [one.get("injected") or one["task"] for one in cases]


def _filled(text: str) -> str:
    """Return a template of sqlmap with something in its holes."""
    holes = {"[RANDNUM]": "1", "[INFERENCE]": "1=1", "[SLEEPTIME]": "5"}
    for hole, filling in holes.items():
        text = text.replace(hole, filling)
    return text


def _unpack(path: Path, folder: str) -> None:
    subprocess.run(["dpkg-deb", "-x", str(path), folder], check=True)


PIP = (sys.executable, "-m", "pip", "download", "-q", "--no-deps")
CORPORA = {
    "AgentDojo": Corpus(
        file="agentdojo-0.1.35-py3-none-any.whl",
        sha256="364bea4219716b716bf639f504d195943f7f6a5535d312ca41d7098704a2affd",
        command=(*PIP, "agentdojo==0.1.35"),
        read=_agentdojo,
    ),
    "agent-injection-bench": Corpus(
        file="agent_injection_bench-0.1.0-py3-none-any.whl",
        sha256="1c4339fc4e2cfcecf7971a96ab58d74ae124f5766b0a2162340fa6731c6ce9f9",
        command=(*PIP, "agent-injection-bench==0.1.0"),
        read=_injection_bench,
    ),
    "BLNS": Corpus(
        file="blns-2.0.4.tgz",
        sha256="07defd1e4ac44024cec61c668696afed8353ee01d2fcaeca2a174d5220c24d9d",
        command=("npm", "pack", "blns@2.0.4"),
        read=_blns,
    ),
    "wfuzz": Corpus(
        file="wfuzz_3.1.0-2_all.deb",
        sha256="e984a780fc723ae925d8d19cea565fef0d15eeccde59621f4aa567b272fc62b4",
        command=("apt-get", "download", "wfuzz=3.1.0-2"),
        read=_wfuzz,
    ),
    "sqlmap": Corpus(
        file="sqlmap_1.7.2-1_all.deb",
        sha256="9f51ebdbe09c20bad87361122589e8f37ca909cb2e3f5527ec0b6ace799049c5",
        command=("apt-get", "download", "sqlmap=1.7.2-1"),
        read=_sqlmap,
    ),
}
