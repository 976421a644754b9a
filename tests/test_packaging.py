import os
import re
import site
import subprocess
import sys
import venv
import zipfile
from email.parser import BytesParser
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "ai_assistant"
LOCKS = ("requirements.txt", "requirements-django61.txt")

# What coverage, virtualenv and setuptools put there; a .pth file runs at each start.
EXPECTED_PTH = {"a1_coverage.pth", "_virtualenv.pth", "distutils-precedence.pth"}

SETTINGS = """
SECRET_KEY = "x"
ALLOWED_HOSTS = ["localhost"]
ROOT_URLCONF = "urls"
ASGI_APPLICATION = "asgi.application"
STATIC_URL = "static/"
USE_TZ = True
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "site.sqlite3"}}
INSTALLED_APPS = [
    "daphne", "ai_assistant",
    "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes",
    "django.contrib.messages", "django.contrib.sessions", "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "ai_assistant.web.middleware.AssistantMiddleware",
]
PROCESSORS = [
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
]
TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "APP_DIRS": True,
    "OPTIONS": {"context_processors": PROCESSORS},
}]
PROFILE = {"MODEL": "openai/gpt-5-mini", "API_KEY_ENV": "OPENAI_API_KEY"}
AI_ASSISTANT = {"ENABLED": True, "PROFILES": {"default": PROFILE}}
"""
URLS = """
from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("assistant/", include("ai_assistant.urls")),
]
"""
ASGI = """
from django.core.asgi import get_asgi_application
from ai_assistant.routing import assistant_application

application = assistant_application(get_asgi_application())
"""
# A page in German, its style and all its tables.
VISIT = """
import django
django.setup()
from django.contrib.auth import get_user_model
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client

call_command("migrate", verbosity=0)
client = Client(headers={"host": "localhost", "accept-language": "de"})
client.force_login(get_user_model().objects.create_superuser("ada"))
page = client.get("/assistant/").content.decode()
assert 'id="aia"' in page
assert "Unterhaltung" in page
assert finders.find("ai_assistant/panel.css")
"""


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def sources(folder: str, suffixes: str) -> set[str]:
    return {
        file.relative_to(ROOT).as_posix()
        for file in (APP / folder).rglob("*")
        if file.is_file() and file.suffix in suffixes.split()
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    built = run("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


class TestWheel:
    def test_wheel_holds_only_the_app(self, wheel):
        roots = {name.split("/")[0] for name in wheel.namelist()}

        found = re.search(r'__version__ = "(.+)"', (APP / "__init__.py").read_text())
        assert roots == {"ai_assistant", f"ai_assistant-{found[1]}.dist-info"}

    @pytest.mark.parametrize(
        ("folder", "suffixes"),
        [
            ("templates", ".html .txt"),
            ("static", ".js .css .svg"),
            ("migrations", ".py"),
            ("locale", ".mo"),
        ],
    )
    def test_wheel_holds_every_file_of(self, wheel, folder, suffixes):
        expected = sources(folder, suffixes)

        assert expected
        assert expected <= set(wheel.namelist())

    def test_wheel_holds_every_module(self, wheel):
        assert sources("", ".py") <= set(wheel.namelist())

    def test_wheel_says_what_a_registry_shows(self, wheel):
        (name,) = (one for one in wheel.namelist() if one.endswith("/METADATA"))
        metadata = BytesParser().parsebytes(wheel.read(name))

        assert metadata["Description-Content-Type"] == "text/markdown"
        assert metadata.get_payload() == (ROOT / "README.md").read_text()
        assert metadata["License-Expression"] == "MIT"
        assert metadata["License-File"] == "LICENSE"
        assert name.replace("METADATA", "licenses/LICENSE") in wheel.namelist()

    def test_wheel_is_typed(self, wheel):
        assert "ai_assistant/py.typed" in wheel.namelist()

    def test_wheel_holds_no_cache_nor_source_of_a_catalogue(self, wheel):
        unread = [n for n in wheel.namelist() if "__pycache__" in n or n[-3:] == ".po"]

        assert not unread

    def test_wheel_offers_the_extras(self, wheel):
        (metadata,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))

        extras = re.findall(
            r"^Provides-Extra: (.+)$", wheel.read(metadata).decode(), re.M
        )
        assert sorted(extras) == [
            *(
                "agui",
                "celery",
                "client",
                "litellm",
                "openai",
                "postgres",
                "redis",
                "schema",
            )
        ]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A new environment with the wheel; what that depends on is taken from ours."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    program = folder / "env" / "bin" / "python"
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    told = run(*pip, "--python", str(program), "install", "--no-deps", wheel.filename)
    assert told.returncode == 0, told.stderr
    (packages,) = (folder / "env").glob("lib/python*/site-packages")
    (packages / "ours.pth").write_text("\n".join(site.getsitepackages()))
    (folder / "settings.py").write_text(SETTINGS)
    (folder / "urls.py").write_text(URLS)
    (folder / "asgi.py").write_text(ASGI)
    return folder


def in_new_site(folder, *arguments) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(folder / "env" / "bin" / "python"), *arguments],
        cwd=folder,
        env={"PATH": "", "DJANGO_SETTINGS_MODULE": "settings", "OPENAI_API_KEY": "x"},
        capture_output=True,
        text=True,
        check=False,
    )


class TestInstalled:
    def test_installed_is_imported_from_the_wheel_without_setup(self, installed):
        told = in_new_site(
            installed, "-c", "import ai_assistant as a; print(a.__file__)"
        )

        assert told.returncode == 0, told.stderr
        assert told.stdout.startswith(str(installed / "env"))

    def test_site_passes_its_checks(self, installed):
        told = in_new_site(
            installed, "-m", "django", "check", "--fail-level", "WARNING"
        )

        assert told.returncode == 0, told.stderr
        assert "no issues" in told.stdout

    def test_site_has_tables_templates_files_and_translations(self, installed):
        told = in_new_site(installed, "-c", VISIT)

        assert told.returncode == 0, told.stderr


@pytest.mark.parametrize("name", LOCKS)
class TestLock:
    def test_lock_carries_no_address(self, name):
        text = (ROOT / name).read_text()

        assert "://" not in text
        assert not re.search(r"^--", text, re.MULTILINE)

    def test_pins_and_hashes_everything(self, name):
        entries = re.split(r"\n(?=\S)", (ROOT / name).read_text().strip())

        assert entries
        loose = [e for e in entries if not re.match(r"[\w.-]+(\[.+])?==", e)]
        assert not loose
        assert not [e for e in entries if "--hash=sha256:" not in e]

    def test_lock_avoids_bad_releases_of_litellm(self, name):
        (version,) = re.findall(r"^litellm==(\S+)", (ROOT / name).read_text(), re.M)

        assert version not in ("1.82.7", "1.82.8")
        assert not version.startswith("1.107.")


class TestImport:
    @pytest.mark.servers
    def test_import_needs_no_django_setup(self):
        done = run("-W", "error", "-c", "import ai_assistant; ai_assistant.tool")

        assert done.returncode == 0, done.stderr

    @pytest.mark.servers
    @pytest.mark.parametrize("model", ["", "openai/gpt-5-mini"])
    def test_import_checks_import_no_sdk(self, model):
        code = (
            "import sys, django; from django.core.management import call_command;"
            "django.setup(); call_command('check');"
            "sys.exit(bool({'litellm', 'openai', 'aiohttp', 'orjson'} & set(sys.modules)))"
        )

        done = run(
            *("-c", code),
            DJANGO_SETTINGS_MODULE="project.settings",
            ASSISTANT_MODEL=model,
        )

        assert done.returncode == 0, done.stderr


class TestEnvironment:
    def test_environment_holds_no_unexpected_pth(self):
        found = {p.name for d in site.getsitepackages() for p in Path(d).glob("*.pth")}

        assert found <= EXPECTED_PTH

    def test_installed_litellm_is_the_locked_one(self):
        name = LOCKS[sys.version_info >= (3, 13)]

        (locked,) = re.findall(r"^litellm==(\S+)", (ROOT / name).read_text(), re.M)

        assert version("litellm") == locked
