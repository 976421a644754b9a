"""The modules that comments and docstrings name are there."""

import ast
import io
import re
import tokenize
from functools import cache

import pytest

from tests.docs.blocks import ROOT

APP = ROOT / "ai_assistant"
SOURCES = sorted(
    path
    for folder in ("ai_assistant", "project", "tests", "tools")
    for path in (ROOT / folder).rglob("*.py")
    if "migrations" not in path.parts
)
VARIABLES = ("admin", "context")  # Django's module, and the argument of each tool
ROOMS = sorted(
    path.name
    for path in APP.iterdir()
    if (path / "__init__.py").exists() and path.name not in VARIABLES
)
REFERENCE = re.compile(
    rf"(?<![\w./])(?:ai_assistant\.(\w+(?:\.\w+)*)|((?:{'|'.join(ROOMS)})(?:\.\w+)+))"
)
FILES = ("css", "html", "js", "json", "md", "py", "toml", "txt", "xml")


def prose(source):
    """Yield the line and the text of each comment and docstring."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text


def gone_names(text):
    """Return what `text` names that is not there."""
    named = {"".join(pair) for pair in REFERENCE.findall(text)}
    is_module = (name for name in named if name.rpartition(".")[2] not in FILES)
    return sorted(name for name in is_module if not is_there(name))


@cache
def is_there(reference):
    """Tell whether `reference` is a module of the app, or a name in one."""
    path, names = APP, reference.split(".")
    while names and (path / names[0]).is_dir():
        path /= names.pop(0)
    if names and (path / f"{names[0]}.py").exists():
        path /= f"{names.pop(0)}.py"
    source = path if path.is_file() else path / "__init__.py"
    return not names or bool(re.search(rf"\b{names[0]}\b", source.read_text()))


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("engine", True),
        ("engine.storage.lease", True),
        ("engine.calls.editing.WrongValues", True),
        ("RunContext", True),
        ("engine.owner", False),
        ("engine.calls.editing.Nothing", False),
    ],
)
def test_reference_is_looked_up(reference, expected):
    assert is_there(reference) is expected


def test_no_comment_names_a_module_that_is_gone():
    sources = {path: path.read_text(encoding="utf-8") for path in SOURCES}
    gone = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, source in sources.items()
        if gone_names(source)  # parsing takes long
        for line, text in prose(source)
        for name in gone_names(text)
    ]

    assert gone == []
