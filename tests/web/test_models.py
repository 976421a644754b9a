"""
Of web only web.rest imports models; the others take types from engine.queries.

The import contract says the same, but passes over what is imported for types only.
"""

import ast
from pathlib import Path

import pytest

import ai_assistant

APP = Path(ai_assistant.__file__).parent
MODELS = "ai_assistant.models"
FILES = sorted({*APP.glob("web/**/*.py")} - {*APP.glob("web/rest/*.py")})
# The time is no table; rows of the site are no conversations.
ALLOWED = {f"{MODELS}.clock", f"{MODELS}.change"}


def imported_models(source: str) -> set[str]:
    """Return the modules of models that are imported, wherever that stands."""
    names = {
        f"{MODELS}.{one.name}" if node.module == MODELS else node.module or ""
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    return {name for name in names if name.startswith(MODELS)} - ALLOWED


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(APP)))
def test_imports_no_models(file):
    assert imported_models(file.read_text()) == set()


def test_import_for_types_counts():
    source = f"if TYPE_CHECKING:\n    from {MODELS}.run import Run\n"

    assert imported_models(source) == {f"{MODELS}.run"}
