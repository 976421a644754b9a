"""A site of its own, made by doing what a page says."""

import json
import os
import shutil
import subprocess
import sys

from tests.docs.blocks import ROOT, blocks

# The first never ends, the second asks, the third is the shell's.
NOT_RUN = ("runserver", "createsuperuser", "export")

# All commands of a block in one process, since each start of Django costs seconds.
COMMANDS = """
import contextlib, importlib, io, json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "mysite.settings"
from django.core.management import execute_from_command_line
told = {}
for command in json.loads(sys.argv[1]):
    importlib.invalidate_caches()
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        execute_from_command_line(["manage.py", *command.split()])
    told[command] = written.getvalue()
sys.stdout.write(json.dumps(told))
"""


# What every site has, beside its own.
BUILT_IN = {
    "ask_user",
    "get_skill",
    "undo_changes",
    "fill_form",
    "find_pages",
    "find_tools",
    "get_page_state",
    "highlight",
    "navigate_to",
    "page_action",
    "list_models",
    "describe_model",
    "search_objects",
    "get_object",
    "aggregate_objects",
    "find_related",
    "object_history",
    "create_object",
    "change_object",
    "change_objects",
    "delete_objects",
    "run_admin_action",
    "ask_agent",
    "call_api",
    "search_api",
    "read_result",
    "save_memory",
    "show_tour",
    "suggest_followups",
    "update_plan",
}


def own_tools(told):
    """Return the site's own tools, of all those that the doctor lists."""
    (line,) = [one for one in told.splitlines() if one.startswith("tools ")]
    names = line.removeprefix("tools").strip().split(", ")
    assert set(names) >= BUILT_IN
    return [name for name in names if name not in BUILT_IN]


class Site:
    """A Django project named mysite in `folder`."""

    def __init__(self, folder):
        self.folder = folder
        self.told = {}  # what was written, by command

    @classmethod
    def new(cls, folder):
        site = cls(folder)
        site.python("-m", "django", "startproject", "mysite", ".")
        return site

    def copy(self, folder):
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return Site(folder)

    def follow(self, text):
        """Write every named code block to its file, and give every command."""
        for block in blocks(text):
            if block.language == "python" and block.file:
                self.write(block)
            elif block.language == "console":
                self.give(*block.code.splitlines())

    def write(self, block):
        path = self.folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n{block.code}")

    def give(self, *lines):
        """Give commands as they stand on a page."""
        commands = [line.removeprefix("python manage.py ") for line in lines]
        wanted = [one for one in commands if one.split()[0] not in NOT_RUN]
        told = self.python("-c", COMMANDS, json.dumps(wanted))
        self.told.update(json.loads(told))

    def run(self, file):
        """Run a file of this folder in the site."""
        shutil.copy(ROOT / "tests" / "docs" / file, self.folder)
        return self.python(file)

    def python(self, *arguments):
        paths = os.pathsep.join([str(self.folder), str(ROOT)])
        kept = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**kept, "PYTHONPATH": paths, "OPENAI_API_KEY": "x"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
        return done.stdout
