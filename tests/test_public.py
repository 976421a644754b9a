"""The public names: explained in place and on a page, and there before Django is."""

import inspect
import re
import subprocess
import sys

import pytest

import ai_assistant
import ai_assistant.testing
from tests.docs.blocks import ROOT, page

NAMES = [f"ai_assistant.{name}" for name in ai_assistant.__all__] + [
    f"ai_assistant.testing.{name}" for name in ai_assistant.testing.__all__
]


def named(dotted):
    module, _, name = dotted.rpartition(".")
    return getattr(sys.modules[module], name)


@pytest.mark.row("E04")
class TestNames:
    @pytest.mark.parametrize("dotted", NAMES)
    def test_names_has_a_docstring_of_its_own(self, dotted):
        found = named(dotted)

        told = type(found).__doc__ if dotted.endswith(".registry") else found.__doc__
        assert inspect.cleandoc(told or "").endswith((".", "docs/tools.md"))

    @pytest.mark.parametrize("dotted", NAMES)
    def test_names_has_a_heading(self, dotted):
        name = dotted.rpartition(".")[2]

        assert re.search(rf"^### `{name}`$", page("docs/api.md"), re.MULTILINE)

    def test_no_heading_is_too_many(self):
        headings = re.findall(r"^### `(\w+)`$", page("docs/api.md"), re.MULTILINE)

        assert sorted(headings) == sorted(name.rpartition(".")[2] for name in NAMES)

    def test_package_of_the_same_name_does_not_hide_the_decorator(self):
        import ai_assistant.context.collect

        assert inspect.isfunction(ai_assistant.context)


class TestImport:
    @pytest.mark.servers
    @pytest.mark.parametrize("module", ["ai_assistant", "ai_assistant.testing"])
    def test_import_needs_no_setup_of_django(self, module):
        code = (
            f"import {module} as m; [getattr(m, name) for name in m.__all__];"
            "from django.apps import apps; assert not apps.ready"
        )

        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=ROOT,
            env={"PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stderr

    @pytest.mark.servers
    def test_import_needs_no_model_library(self):
        code = (
            "import sys, ai_assistant.testing;"
            "assert not {'litellm', 'aiohttp', 'redis', 'celery'} & set(sys.modules)"
        )

        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False
        )

        assert done.returncode == 0, done.stderr

    @pytest.mark.servers
    def test_import_leaves_the_slow_libraries_to_who_needs_them(self):
        code = (
            "import sys, ai_assistant;"
            "slow = {'django.http', 'django.db.models', 'pydantic'} & set(sys.modules);"
            "assert not slow, slow"
        )

        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False
        )

        assert done.returncode == 0, done.stderr
