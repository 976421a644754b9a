"""What a site's own files lack for a chat, found in the layout that the site has."""

import ast
import difflib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec, resolve_name
from pathlib import Path
from textwrap import dedent

from django.conf import settings
from django.urls import NoReverseMatch, Resolver404, resolve, reverse

MIDDLEWARE = "ai_assistant.web.middleware.AssistantMiddleware"
CHECK_S = 120  # for the site to start once
PREFIXES = ("assistant/", "ai-assistant/")


class SetupProblem(Exception):
    """Raised if a file of the site cannot be found, or must not be changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileChange:
    """What a file of the site is now, and what it is to be; `before` is None for none."""

    path: Path
    before: str | None
    after: str

    def difference(self) -> str:
        """Return the change as a unified diff."""
        name = os.path.relpath(self.path)
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            name if self.before is not None else "/dev/null",
            name,
        )
        return "".join(lines)


def changes() -> list[FileChange]:
    """
    Return what to change in the files of the site; nothing if nothing is missing.

    Raise SetupProblem if one of them cannot be found.
    """
    found = [_settings_change(), _asgi_change(), _urls_change()]
    wanted = [change for change in found if change is not None]
    for change in wanted:
        try:
            ast.parse(change.after)
        except SyntaxError as error:
            raise SetupProblem(f"{change.path} cannot be read: {error}.") from error
    return wanted


def write(wanted: list[FileChange]) -> None:
    """
    Write the changes, and start the site once in a process of its own.

    Raise SetupProblem if it does not start: then all files are again as they were.
    """
    try:
        for change in wanted:
            change.path.write_text(change.after, encoding="utf-8")
        problem = _start_problem()
    except OSError as error:
        problem = str(error)
    if problem:
        for change in wanted:
            if change.before is None:
                change.path.unlink(missing_ok=True)
            else:
                change.path.write_text(change.before, encoding="utf-8")
        raise SetupProblem(
            f"With these changes the site does not start, so they were taken back: "
            f"{problem}"
        )


def _start_problem() -> str:
    """Return why `manage.py check` fails now; empty if it does not."""
    code = "import django; django.setup(); from django.core.management import "
    code += "call_command; call_command('check')"
    paths = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(  # noqa: S603 - this very Python
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "PYTHONPATH": paths,
            "DJANGO_SETTINGS_MODULE": _settings_module(),
        },
        capture_output=True,
        text=True,
        timeout=CHECK_S,
        check=False,
    )
    said = done.stderr.strip().splitlines() or ["it ends without a word"]
    return said[-1] if done.returncode else ""


# --- settings ---


def _settings_module() -> str:
    return str(os.environ.get("DJANGO_SETTINGS_MODULE", ""))


def _settings_change() -> FileChange | None:
    lines: list[str] = []
    apps = list(settings.INSTALLED_APPS)
    if find_spec("daphne") and "daphne" not in apps:
        # Its `runserver` serves ASGI, and has to come before that of staticfiles.
        lines.append('INSTALLED_APPS = ["daphne", *INSTALLED_APPS]')
    if MIDDLEWARE not in settings.MIDDLEWARE:
        lines.append(f'MIDDLEWARE = [*MIDDLEWARE, "{MIDDLEWARE}"]')
    if not getattr(settings, "ASGI_APPLICATION", None):
        lines.append(f'ASGI_APPLICATION = "{_asgi_module()}.application"')
    if not getattr(settings, "AI_ASSISTANT", None):
        lines.append('AI_ASSISTANT = {"ENABLED": True}')
    if not lines:
        return None
    path = _settings_file()
    added = ["# The assistant, on every page of the admin.", *lines]
    return _appended(path, "\n".join(added))


def _settings_file() -> Path:
    """Return the file that has the last word about MIDDLEWARE as a whole."""
    name = _settings_module()
    files = list(_settings_files(name))
    if not files:
        raise SetupProblem(f"The file of the settings {name!r} cannot be found.")
    return next((path for path in files if _sets_middleware(path)), files[0])


def _settings_files(name: str) -> Iterator[Path]:
    """Yield the file of a module of settings, then those from which it imports all."""
    path = _file_of(name)
    if path is None:
        return
    yield path
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            relative = "." * node.level + (node.module or "")
            yield from _settings_files(resolve_name(relative, package))


def _sets_middleware(path: Path) -> bool:
    return any(
        isinstance(node, ast.Assign | ast.AnnAssign)
        and "MIDDLEWARE" in {getattr(one, "id", "") for one in _targets(node)}
        and node.value is not None
        and "MIDDLEWARE" not in {getattr(n, "id", "") for n in ast.walk(node.value)}
        for node in _parsed(path).body
    )


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


# --- asgi.py ---

ASGI = """
from ai_assistant.routing import assistant_application  # noqa: E402

{name} = assistant_application({arguments})
"""


def _asgi_module() -> str:
    """Return the module of the ASGI application, also if it is not there yet."""
    if own := getattr(settings, "ASGI_APPLICATION", None):
        return str(own).rpartition(".")[0]
    if wsgi := getattr(settings, "WSGI_APPLICATION", None):
        package = str(wsgi).rpartition(".")[0].rpartition(".")[0]
    else:
        package = str(settings.ROOT_URLCONF).rpartition(".")[0]
    return f"{package}.asgi" if package else "asgi"


def _asgi_change() -> FileChange | None:
    name = _asgi_module()
    path = _file_of(name)
    before = path.read_text(encoding="utf-8") if path else None
    if before is not None and "assistant_application" in before:
        return None
    text = before if before is not None else _asgi_like_wsgi()
    # What the site does with sockets of its own, it goes on to do.
    has_sockets = re.search("websocket|ProtocolTypeRouter", text)
    own = str(getattr(settings, "ASGI_APPLICATION", None) or "").rpartition(".")[2]
    own = own or "application"
    arguments = f"{own}, websocket={own}" if has_sockets else own
    added = ASGI.format(name=own, arguments=arguments)
    return FileChange(
        path=path or _place_of(name),
        before=before,
        after=f"{text.rstrip()}\n{added}",
    )


def _asgi_like_wsgi() -> str:
    """Return an asgi.py that sets up the site as its wsgi.py does."""
    wsgi = str(getattr(settings, "WSGI_APPLICATION", None) or "").rpartition(".")[0]
    path = _file_of(wsgi) if wsgi else None
    if path is not None:
        text = path.read_text(encoding="utf-8")
        return text.replace("wsgi", "asgi").replace("WSGI", "ASGI")
    return dedent(
        f"""\
        import os

        from django.core.asgi import get_asgi_application

        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "{_settings_module()}")
        application = get_asgi_application()
        """
    )


def _place_of(name: str) -> Path:
    package, _dot, module = name.rpartition(".")
    beside = _file_of(package) if package else None
    if package and beside is None:
        raise SetupProblem(f"The package {package!r} cannot be found.")
    folder = beside.parent if beside else Path.cwd()
    return folder / f"{module}.py"


# --- urls.py ---


def _urls_change() -> FileChange | None:
    try:
        reverse("ai_assistant:full")
    except NoReverseMatch:
        pass
    else:
        return None
    name = settings.ROOT_URLCONF
    path = _file_of(name)
    if path is None:
        raise SetupProblem(f"The file of ROOT_URLCONF, {name!r}, cannot be found.")
    prefix = next(one for one in (*PREFIXES, "") if not _is_taken(f"/{one}"))
    added = f"""\
from django.urls import include, path  # noqa: E402

# First, so that no pattern for any address goes before it.
urlpatterns = [path("{prefix}", include("ai_assistant.urls")), *urlpatterns]"""
    return _appended(path, added)


def _is_taken(path: str) -> bool:
    """Return whether the site has a page of its own at a path."""
    try:
        match = resolve(path)
    except Resolver404:
        return False
    return path.strip("/") in str(match.route)


# --- files ---


def _file_of(module: str) -> Path | None:
    """Return the file of a module of the site; None if it has none."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    path = Path(spec.origin) if spec and spec.origin else None
    return path if path and path.suffix == ".py" and path.is_file() else None


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _appended(path: Path, added: str) -> FileChange:
    before = path.read_text(encoding="utf-8")
    return FileChange(path=path, before=before, after=f"{before.rstrip()}\n\n{added}\n")
