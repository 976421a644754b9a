"""Settings of the tests: those of the demo, with a test app and fast passwords."""

import os

from ai_assistant import conf
from project.settings import *  # noqa: F403 - a settings module is its names
from project.settings import AI_ASSISTANT, BASE_DIR, DATABASES, INSTALLED_APPS

DEBUG = False
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1", "[::1]"]
INSTALLED_APPS = [
    *dict.fromkeys(
        [
            *INSTALLED_APPS,
            "project.conformance",
            "tests.testapp",
            "tests.library",
            "tests.gallery",
            "tests.warehouse",
        ]
    )
]
AI_ASSISTANT = conf.merged(
    AI_ASSISTANT,
    {
        "RATES": {"USER": ""},  # tests send many at once
        "TITLES": False,  # and count the calls of the model
        "FOLLOWUPS": False,
        "API_OPERATIONS": [],  # its tests name what they call
        "TIMEOUTS": {"WRITE_S": 30.0},  # no write is undone as the machine is busy
    },
)
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# A file, since the engine's threads share it, and one for each test process.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    _folder = BASE_DIR / "build"
    _folder.mkdir(exist_ok=True)
    DATABASES["default"] |= {
        "NAME": _folder / "none.sqlite3",  # never that of `make run`
        "OPTIONS": {"timeout": 30},  # seconds
        "TEST": {"NAME": _folder / f"test-{os.getpid()}.sqlite3"},
    }
