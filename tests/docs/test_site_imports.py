"""Sites of packages name what the project has: most of them run elsewhere, one at a time."""

import ast
import importlib
from importlib.util import find_spec

import pytest

from tests.hosts.packages.environment import FOLDER

NEEDS_PACKAGE = ".tenant_backend"  # django-tenants


def imported(path):
    """Return the modules of the assistant that a file imports from, and the names."""
    for node in ast.walk(ast.parse(path.read_text())):
        module = getattr(node, "module", None) or ""
        if module.split(".")[0] == "ai_assistant" and NEEDS_PACKAGE not in module:
            yield from ((module, alias.name) for alias in node.names)


def is_there(module, name):
    return hasattr(importlib.import_module(module), name) or bool(
        find_spec(f"{module}.{name}")
    )


PAIRS = sorted({pair for path in FOLDER.rglob("*.py") for pair in imported(path)})


@pytest.mark.parametrize(("module", "name"), PAIRS)
def test_what_a_site_imports_is_there(module, name):
    assert is_there(module, name)
