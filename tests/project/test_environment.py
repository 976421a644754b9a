import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from project import environment

FOLDER = Path("/srv/demo")


class TestDatabase:
    def test_defaults_to_a_file_of_the_project(self):
        found = environment.database("", folder=FOLDER)

        assert found["NAME"] == FOLDER / "db.sqlite3"

    @pytest.mark.parametrize(
        ("url", "name"),
        [
            ("sqlite:///own.sqlite3", FOLDER / "own.sqlite3"),
            ("sqlite:////var/own.sqlite3", Path("/var/own.sqlite3")),
        ],
    )
    def test_database_takes_a_sqlite_path(self, url, name):
        assert environment.database(url, folder=FOLDER)["NAME"] == name

    def test_database_takes_a_postgres_address(self):
        url = "postgres://ann:s%40crt@db.example:6432/shop?sslmode=require"

        assert environment.database(url, folder=FOLDER) == {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": "shop",
            "USER": "ann",
            "PASSWORD": "s@crt",
            "HOST": "db.example",
            "PORT": "6432",
            "OPTIONS": {"sslmode": "require"},
        }

    def test_database_takes_a_postgres_socket(self):
        found = environment.database("postgres:///shop?host=/run/pg", folder=FOLDER)

        assert (found["HOST"], found["OPTIONS"]) == ("", {"host": "/run/pg"})

    def test_unknown_scheme_raises(self):
        with pytest.raises(ImproperlyConfigured, match="the scheme 'mysql'"):
            environment.database("mysql://localhost/shop", folder=FOLDER)


class TestModelProfile:
    def test_model_profile_is_the_demo_without_a_model(self, monkeypatch):
        monkeypatch.delenv("ASSISTANT_MODEL", raising=False)

        assert environment.model_profile()["MODEL"] == "demo"

    def test_model_profile_names_the_variable_of_the_key_only(self, monkeypatch):
        monkeypatch.setenv("ASSISTANT_MODEL", "openai/some-model")
        monkeypatch.setenv("ASSISTANT_API_KEY", "very-secret")

        profile = environment.model_profile()

        assert profile["API_KEY_ENV"] == "ASSISTANT_API_KEY"
        assert "very-secret" not in str(profile)

    @pytest.mark.parametrize("provider", ["direct", "litellm"])
    def test_model_profile_takes_a_provider(self, monkeypatch, provider):
        monkeypatch.setenv("ASSISTANT_MODEL", "openai/some-model")
        monkeypatch.setenv("ASSISTANT_PROVIDER", provider)

        assert environment.model_profile()["PROVIDER"] == provider


class TestServer:
    def test_defaults_to_daphne(self, monkeypatch):
        monkeypatch.delenv("SERVER", raising=False)

        assert environment.server() == "daphne"

    def test_unknown_raises(self, monkeypatch):
        monkeypatch.setenv("SERVER", "gunicorn")

        with pytest.raises(
            ImproperlyConfigured, match="one of: daphne, uvicorn, granian"
        ):
            environment.server()


class TestFlag:
    @pytest.mark.parametrize(
        ("value", "meant"), [("1", True), ("0", False), ("", False)]
    )
    def test_flag_reads_the_usual_words(self, monkeypatch, value, meant):
        monkeypatch.setenv("DJANGO_DEBUG", value)

        assert environment.flag("DJANGO_DEBUG", default="1") is meant


class TestTitles:
    @pytest.mark.servers
    @pytest.mark.parametrize(
        ("variables", "asked"),
        [
            ({}, True),
            ({"ASSISTANT_TITLES": "0"}, False),
            ({"ASSISTANT_CONFORMANCE": "1"}, False),
        ],
    )
    def test_titles_are_asked_for(self, variables, asked):
        assert printed("AI_ASSISTANT['TITLES']", variables) == f"{asked}\n"


@pytest.mark.servers
class TestLimits:
    def test_limits_are_lifted_for_load_tests(self):
        expression = "AI_ASSISTANT['RATES']['USER'], AI_ASSISTANT['LIMITS']"

        text = printed(expression, {"ASSISTANT_UNLIMITED": "1"})

        limits = "{'RUNS_PER_PROCESS': 10000, 'RUNS_PER_USER': 10000}"
        assert text == f"('', {limits})\n"
        assert printed("'RATES' in AI_ASSISTANT", {}) == "False\n"


def printed(expression: str, variables: dict[str, str]) -> str:
    """Return what an expression is in the demo's settings, in another process."""
    code = f"from project.settings import *; print(({expression}))"
    kept = {k: v for k, v in os.environ.items() if not k.startswith("ASSISTANT_")}
    process = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).resolve().parents[2],
        env=kept | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return process.stdout
