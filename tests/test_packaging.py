import os
import re
import site
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APP = ROOT / "ai_assistant"
LOCKS = ("requirements.txt", "requirements-django61.txt")

# What coverage, virtualenv and setuptools put there; a .pth file runs at each start.
EXPECTED_PTH = {"a1_coverage.pth", "_virtualenv.pth", "distutils-precedence.pth"}


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
    def test_holds_only_the_app(self, wheel):
        roots = {name.split("/")[0] for name in wheel.namelist()}

        found = re.search(r'__version__ = "(.+)"', (APP / "__init__.py").read_text())
        assert roots == {"ai_assistant", f"ai_assistant-{found[1]}.dist-info"}

    @pytest.mark.parametrize(
        ("folder", "suffixes"),
        [
            ("templates", ".html .txt"),
            ("static", ".js .css .svg"),
            ("migrations", ".py"),
        ],
    )
    def test_holds_every_file_of(self, wheel, folder, suffixes):
        expected = sources(folder, suffixes)

        assert expected
        assert expected <= set(wheel.namelist())

    def test_is_typed(self, wheel):
        assert "ai_assistant/py.typed" in wheel.namelist()

    def test_holds_no_cache(self, wheel):
        assert not [name for name in wheel.namelist() if "__pycache__" in name]

    def test_offers_the_extras(self, wheel):
        (metadata,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))

        extras = re.findall(
            r"^Provides-Extra: (.+)$", wheel.read(metadata).decode(), re.M
        )
        assert sorted(extras) == [
            *("agui", "celery", "client", "litellm", "postgres", "redis", "schema")
        ]

    def test_holds_the_document_of_the_api(self, wheel):
        assert "ai_assistant/web/rest/openapi.json" in wheel.namelist()


@pytest.mark.parametrize("name", LOCKS)
class TestLock:
    def test_carries_no_address(self, name):
        text = (ROOT / name).read_text()

        assert "://" not in text
        assert not re.search(r"^--", text, re.MULTILINE)

    def test_pins_and_hashes_everything(self, name):
        entries = re.split(r"\n(?=\S)", (ROOT / name).read_text().strip())

        assert entries
        loose = [e for e in entries if not re.match(r"[\w.-]+(\[.+])?==", e)]
        assert not loose
        assert not [e for e in entries if "--hash=sha256:" not in e]

    def test_avoids_bad_releases_of_litellm(self, name):
        (version,) = re.findall(r"^litellm==(\S+)", (ROOT / name).read_text(), re.M)

        assert version not in ("1.82.7", "1.82.8")
        assert not version.startswith("1.107.")


class TestImport:
    def test_needs_no_django_setup(self):
        done = run("-W", "error", "-c", "import ai_assistant; ai_assistant.tool")

        assert done.returncode == 0, done.stderr

    def test_checks_import_no_litellm(self):
        code = (
            "import sys, django; from django.core.management import call_command;"
            "django.setup(); call_command('check');"
            "sys.exit('litellm' in sys.modules)"
        )

        done = run("-c", code, DJANGO_SETTINGS_MODULE="project.settings")

        assert done.returncode == 0, done.stderr


class TestEnvironment:
    def test_holds_no_unexpected_pth(self):
        found = {p.name for d in site.getsitepackages() for p in Path(d).glob("*.pth")}

        assert found <= EXPECTED_PTH

    def test_installed_litellm_is_the_locked_one(self):
        name = LOCKS[sys.version_info >= (3, 13)]

        (locked,) = re.findall(r"^litellm==(\S+)", (ROOT / name).read_text(), re.M)

        assert version("litellm") == locked
