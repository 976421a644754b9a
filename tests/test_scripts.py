"""What checks the scripts: with Node, or with a loud line where there is none."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "scripts.py"


def checked(folder: Path, programs: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the checks where nothing but `programs` is installed."""
    for name, source in programs.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{source}\n")
        program.chmod(0o755)
    return subprocess.run(
        [sys.executable, str(TOOL)],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.servers
class TestWithoutNode:
    def test_missing_node_is_said_loudly_and_fails_nothing(self, tmp_path):
        ended = checked(tmp_path, {})

        assert ended.returncode == 0
        assert "!!!!!\nNOT CHECKED: scripts and style sheets" in ended.stdout
        assert "install Debian's nodejs and npm" in ended.stdout

    def test_old_node_is_said_with_its_version(self, tmp_path):
        ended = checked(tmp_path, {"node": "echo v18.20.4", "npm": ""})

        assert ended.returncode == 0
        assert "Node.js v18.20.4 is older than 20" in ended.stdout


def test_lock_file_names_no_registry():
    lock = json.loads((ROOT / "package-lock.json").read_text())

    assert not [name for name, one in lock["packages"].items() if "resolved" in one]


def test_lock_file_has_every_platform_of_each_tool():
    """Else `npm ci` refuses it, on the machine where it was not written."""
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    needed = {
        f"node_modules/{name}"
        for one in packages.values()
        for name in one.get("optionalDependencies", {})
    }

    assert needed
    assert needed <= set(packages)
