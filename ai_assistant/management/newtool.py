"""The text of a new tool and of its first test, and where each of them goes."""

import ast
import keyword
import re
from dataclasses import dataclass
from pathlib import Path

from django.apps import AppConfig

from ai_assistant.registry import registry

NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]{0,63}")
VERBS = {"read": "view", "write": "change"}
IMPORT = "import ai_assistant"

TOOL = '''\
@ai_assistant.tool({arguments})
def {name}(text: str) -> dict[str, str]:
    """
    Say here what this does, what comes back, and when to use it.

    text: say what this is
    """
    return {{"text": text}}
'''

TEST = '''\
"""The tool `{name}`."""

from django.test import SimpleTestCase

from {package} import assistant


class {title}Tests(SimpleTestCase):
    def test_returns_the_text(self):
        self.assertEqual(assistant.{name}("x"), {{"text": "x"}})
'''


class NotPossible(Exception):
    """The tool cannot be made; the text says why and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewTool:
    """Two files as they will be."""

    path: Path
    text: str
    test_path: Path
    test_text: str


def new_tool(app: AppConfig, name: str, effect: str) -> NewTool:
    """Return what to write. Raise NotPossible if the name is bad or taken."""
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise NotPossible(
            f"{name!r} is no name for a tool. Use the name of a function, of at most "
            "64 letters, digits and '_'."
        )
    if taken := registry.tool(name):
        raise NotPossible(
            f"Tool {name!r} is there already ({taken.origin}). Choose another name."
        )
    path, folder = Path(app.path) / "assistant.py", Path(app.path) / "tests"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    test_path = (folder if folder.is_dir() else folder.parent) / f"test_{name}.py"
    if test_path.exists():
        raise NotPossible(f"{test_path} is there already. Choose another name.")
    tool = TOOL.format(name=name, arguments=_arguments(app, effect))
    title = "".join(map(str.capitalize, name.split("_")))
    return NewTool(
        path=path,
        text=_appended(before, tool, name, path),
        test_path=test_path,
        test_text=TEST.format(name=name, package=app.name, title=title),
    )


def _arguments(app: AppConfig, effect: str) -> str:
    """Return what the decorator is given; the permission is of the app's own."""
    model = next(iter(app.get_models()), None)
    said = f'effect="{effect}"'
    if model is None:
        return said
    permission = f"{app.label}.{VERBS[effect]}_{model._meta.model_name}"
    return f'{said}, permission="{permission}"'


def _appended(before: str, tool: str, name: str, path: Path) -> str:
    if not before.strip():
        return f"{IMPORT}\n\n\n{tool}"
    try:
        body = ast.parse(before).body
    except SyntaxError as error:
        raise NotPossible(
            f"{path}, line {error.lineno}, is not Python. Correct it first."
        ) from error
    if name in {getattr(node, "name", "") for node in body}:
        raise NotPossible(
            f"{path} has a {name!r} already. Choose another name, or decorate that one "
            "with ai_assistant.tool."
        )
    lines = before.rstrip().splitlines()
    if not _imports_us(body):
        lines.insert(_place_of_imports(body), IMPORT)
    return "\n".join([*lines, "", "", tool])


def _imports_us(body: list[ast.stmt]) -> bool:
    names = [one for node in body if isinstance(node, ast.Import) for one in node.names]
    return any(one.name == "ai_assistant" and one.asname is None for one in names)


def _place_of_imports(body: list[ast.stmt]) -> int:
    """Return the line below the docstring and the imports from the future."""
    line = 0
    for node in body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not is_text and not is_future:
            break
        line = node.end_lineno or line
    return line
