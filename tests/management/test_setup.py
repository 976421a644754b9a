"""`assistant_setup` on the layouts that sites have; each is served a page afterwards."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytestmark = [pytest.mark.servers, pytest.mark.broad]

ROOT = Path(__file__).resolve().parents[2]
# A page with the panel, one of the assistant's own, and the setup once more.
VISIT = """
import io, os, sys
import django
django.setup()
from importlib import import_module
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client

call_command("migrate", verbosity=0)
module, _, name = settings.ASGI_APPLICATION.rpartition(".")
assert "assistant_application" in getattr(import_module(module), name).__qualname__
client = Client(headers={"host": "localhost"})
client.force_login(get_user_model().objects.create_superuser("ada"))
page = client.get("/admin/").content.decode()
assert "aia-launcher" in page, page
answer = client.get(sys.argv[1])
assert answer.status_code == 200 and 'id="aia"' in answer.content.decode()
out = io.StringIO()
call_command("assistant_setup", stdout=out)
assert "Nothing is missing" in out.getvalue(), out.getvalue()
"""
INSTALLED = "INSTALLED_APPS = ["


class Site:
    """A site of its own, and the module of its settings."""

    def __init__(self, folder: Path, settings: str) -> None:
        self.folder = folder
        self.env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": settings,
            "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )

    def setup(self, *options: str) -> subprocess.CompletedProcess[str]:
        return self.run("-m", "django", "assistant_setup", *options)

    def files(self) -> dict[str, str]:
        return {str(path): path.read_text() for path in self.folder.rglob("*.py")}

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))


@pytest.fixture
def stock(tmp_path):
    """What `startproject` makes, with the app installed."""
    site = Site(tmp_path, "mysite.settings")
    made = subprocess.run(
        [sys.executable, "-m", "django", "startproject", "mysite", str(tmp_path)],
        env={k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"},
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    path = tmp_path / "mysite/settings.py"
    path.write_text(
        path.read_text().replace(INSTALLED, f'{INSTALLED}\n    "ai_assistant",')
    )
    return site


def split(site: Site) -> None:
    """Settings in a package; a page of our name, and a pattern for any address."""
    catch_all(site)
    in_a_package(site)


def in_a_package(site: Site) -> None:
    folder = site.folder / "mysite/settings"
    folder.mkdir()
    base = (site.folder / "mysite/settings.py").read_text()
    (site.folder / "mysite/settings.py").unlink()
    (folder / "__init__.py").touch()
    (folder / "base.py").write_text(
        base.replace("parent.parent", "parent.parent.parent")
    )
    site.write(
        "mysite/settings/local.py",
        """
        from .base import *

        DEBUG = True
        MIDDLEWARE += ["django.middleware.locale.LocaleMiddleware"]
        """,
    )
    site.env["DJANGO_SETTINGS_MODULE"] = "mysite.settings.local"


def environ(site: Site) -> None:
    """Values from the environment, as django-environ reads them; tuples; wsgi only."""
    site.write(
        "environ.py",
        """
        import os


        class Env:
            def bool(self, name, default=False):
                return os.environ.get(name, str(default)) == "True"

            def str(self, name, default=""):
                return os.environ.get(name, default)
        """,
    )
    path = site.folder / "mysite/settings.py"
    text = path.read_text().replace("DEBUG = True", 'DEBUG = env.bool("DEBUG", True)')
    text = text.replace("from pathlib", "import environ\nfrom pathlib", 1)
    text = text.replace("BASE_DIR =", "env = environ.Env()\nBASE_DIR =", 1)
    text += "\nMIDDLEWARE = tuple(MIDDLEWARE)\nINSTALLED_APPS = tuple(INSTALLED_APPS)\n"
    path.write_text(text)
    (site.folder / "mysite/asgi.py").unlink()


def cookiecutter(site: Site) -> None:
    """The folders of cookiecutter-django: config, an apps folder, sockets of its own."""
    in_a_package(site)
    shutil.move(site.folder / "mysite", site.folder / "config")
    for path in (site.folder / "config").rglob("*.py"):
        path.write_text(path.read_text().replace("mysite.", "config."))
    site.write("mysite/__init__.py", "")
    site.write(
        "config/websocket.py",
        """
        async def websocket_application(scope, receive, send):
            await send({"type": "websocket.accept"})
        """,
    )
    site.write(
        "config/asgi.py",
        """
        import os
        import sys
        from pathlib import Path

        from django.core.asgi import get_asgi_application

        BASE_DIR = Path(__file__).resolve(strict=True).parent.parent
        sys.path.append(str(BASE_DIR / "mysite"))
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
        django_application = get_asgi_application()

        from config.websocket import websocket_application


        async def application(scope, receive, send):
            if scope["type"] == "http":
                await django_application(scope, receive, send)
            elif scope["type"] == "websocket":
                await websocket_application(scope, receive, send)
        """,
    )
    site.env["DJANGO_SETTINGS_MODULE"] = "config.settings.local"


def catch_all(site: Site) -> None:
    """A last pattern for any address, as Wagtail has it, and a page of that name."""
    path = site.folder / "mysite/urls.py"
    path.write_text(
        path.read_text()
        + dedent(
            """
            from django.http import HttpResponse
            from django.urls import re_path

            urlpatterns += [
                path("assistant/", lambda request: HttpResponse("Ours.")),
                re_path(r"^(.*)$", lambda request, rest: HttpResponse("Any.")),
            ]
            """
        )
    )


class TestLayouts:
    @pytest.mark.parametrize(
        ("layout", "changed", "path"),
        [
            (None, {"settings.py", "asgi.py", "urls.py"}, "/assistant/"),
            (split, {"base.py", "asgi.py", "urls.py"}, "/ai-assistant/"),
            (environ, {"settings.py", "asgi.py", "urls.py"}, "/assistant/"),
            (cookiecutter, {"base.py", "asgi.py", "urls.py"}, "/assistant/"),
        ],
    )
    def test_site_has_the_panel_after_it(self, stock, layout, changed, path):
        if layout is not None:
            layout(stock)
        before = stock.files()

        written = stock.setup("--write")

        assert written.returncode == 0, written.stderr
        after = stock.files()
        differing = {
            Path(name).name for name in after if after[name] != before.get(name)
        }
        assert differing == changed
        visited = stock.run("-c", VISIT, path)
        assert visited.returncode == 0, visited.stderr

    def test_without_write_it_is_only_shown(self, stock):
        before = stock.files()

        shown = stock.setup()

        assert '+AI_ASSISTANT = {"ENABLED": True}' in shown.stdout
        assert "+application = assistant_application(application)" in shown.stdout
        assert stock.files() == before

    def test_change_with_which_the_site_does_not_start_is_taken_back(self, stock):
        path = stock.folder / "mysite/settings.py"
        path.write_text(
            f"{path.read_text()}\nfrom pathlib import Path as _Path\n"
            "if _Path(__file__).read_text().count('ENABLED') > 1:\n"
            "    raise ValueError('Not like this.')\n"
        )
        before = stock.files()

        refused = stock.setup("--write")

        assert refused.returncode == 1
        assert "ValueError: Not like this." in refused.stderr
        assert stock.files() == before
