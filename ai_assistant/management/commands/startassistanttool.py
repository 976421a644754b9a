import ast
import keyword
import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.apps import AppConfig, apps
from django.core.management.base import BaseCommand, CommandError

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


class Command(BaseCommand):
    """Add a tool to the assistant.py of an app, and a test of it beside."""

    help = "Add a tool to the assistant.py of an app, and a test of it beside."
    requires_system_checks = ()  # it is used while something else is unfinished

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("app", help="label of the app")
        parser.add_argument("name", help="name of the tool, and of its function")
        parser.add_argument(
            "--effect", choices=[*VERBS], default="read", help="what it does at most"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        name: str = options["name"]
        try:
            app = apps.get_app_config(options["app"])
            path, test_path = _write(app, name, options["effect"])
        except (LookupError, OSError) as error:
            raise CommandError(str(error).strip("'\"")) from error
        self.stdout.write(f"Tool {name!r} is in {path}.")
        self.stdout.write(f"Its test is in {test_path}.")
        self.stdout.write("Write what it does, and its docstring, for the model.")


def _write(app: AppConfig, name: str, effect: str) -> tuple[Path, Path]:
    """Write tool and test; return where. Raise CommandError for a bad or taken name."""
    if not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise CommandError(
            f"{name!r} is not a valid tool name. Use the name of a function, of at "
            "most 64 letters, digits and '_'."
        )
    if existing := registry.tool(name):
        raise CommandError(
            f"Tool {name!r} already exists ({existing.origin}). Choose another name."
        )
    path, folder = Path(app.path) / "assistant.py", Path(app.path) / "tests"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    test_path = (folder if folder.is_dir() else folder.parent) / f"test_{name}.py"
    if test_path.exists():
        raise CommandError(f"{test_path} already exists. Choose another name.")
    tool = TOOL.format(name=name, arguments=_arguments(app, effect))
    title = "".join(map(str.capitalize, name.split("_")))
    test = TEST.format(name=name, package=app.name, title=title)
    path.write_text(_appended(before, tool, name, path), encoding="utf-8")
    test_path.write_text(test, encoding="utf-8")
    return path, test_path


def _arguments(app: AppConfig, effect: str) -> str:
    """Return what the decorator is given; the permission is of the app's own."""
    model = next(iter(app.get_models()), None)
    arguments = f'effect="{effect}"'
    if model is None:
        return arguments
    permission = f"{app.label}.{VERBS[effect]}_{model._meta.model_name}"
    return f'{arguments}, permission="{permission}"'


def _appended(before: str, tool: str, name: str, path: Path) -> str:
    if not before.strip():
        return f"{IMPORT}\n\n\n{tool}"
    try:
        body = ast.parse(before).body
    except SyntaxError as error:
        raise CommandError(
            f"{path}, line {error.lineno}, is not Python. Correct it first."
        ) from error
    if name in {getattr(node, "name", "") for node in body}:
        raise CommandError(
            f"{path} has a {name!r} already. Choose another name, or decorate that one "
            "with ai_assistant.tool."
        )
    lines = before.rstrip().splitlines()
    if not _imports_us(body):
        lines.insert(_place_of_imports(body), IMPORT)
    return "\n".join([*lines, "", "", tool])


def _imports_us(body: list[ast.stmt]) -> bool:
    names = [
        name for node in body if isinstance(node, ast.Import) for name in node.names
    ]
    return any(alias.name == "ai_assistant" and alias.asname is None for alias in names)


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
