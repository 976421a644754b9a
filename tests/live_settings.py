"""
Settings of servers that tests start: the demo's, with tools whose effects count.

TESTS_LAYER=deaf drops every message of the channel layer, and those within the process.
TESTS_CSP is the Content-Security-Policy of every answer. TESTS_SETTINGS is JSON
that goes over AI_ASSISTANT, and TESTS_CONSTANTS over those of ai_assistant.conf.
TESTS_SCRIPT_NAME is the path below which the site is.
"""

import json
import os

from ai_assistant import conf
from ai_assistant.engine.storage.listeners import Listeners
from project.settings import *  # noqa: F403 - a settings module is its names
from project.settings import AI_ASSISTANT, CHANNEL_LAYERS, INSTALLED_APPS, MIDDLEWARE

ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
# Without "daphne", which makes an event loop when it is imported: it is started as a
# program here, not by runserver.
INSTALLED_APPS = [
    *(app for app in INSTALLED_APPS if app not in ("daphne", "project.conformance")),
    *("project.conformance", "tests.testapp"),
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ROOT_URLCONF = "tests.testapp.urls"
FORCE_SCRIPT_NAME = os.environ.get("TESTS_SCRIPT_NAME")
DEMO_TASK_DELAY_S = 0.02

AI_ASSISTANT = conf.merged(
    AI_ASSISTANT,
    {
        "LIMITS": {
            "RUNS_PER_USER": 1000,
            "RUNS_PER_PROCESS": 200,
        },
        "RATES": {"USER": ""},
        "TITLES": False,  # tests count the calls of the model
        "TIMEOUTS": {"WRITE_S": 30.0},  # no write is undone because the machine is busy
        "POLICY": {
            "write_effect": "allow",
            "slow_write": "allow",
            "write_external": "allow",
            "background_steps": "allow",
            "needs_approval": "ask",
        },
    },
)
if os.environ.get("TESTS_NO_PANEL"):
    MIDDLEWARE = [name for name in MIDDLEWARE if "ai_assistant" not in name]
if os.environ.get("TESTS_LAYER") == "deaf":
    CHANNEL_LAYERS = {"default": {"BACKEND": "tests.servers.deaf_layer.DeafLayer"}}
    Listeners.tell = lambda *_message: None  # type: ignore[method-assign]
if os.environ.get("TESTS_CSP"):
    MIDDLEWARE = ["tests.servers.csp.content_security_policy", *MIDDLEWARE]
AI_ASSISTANT = conf.merged(
    AI_ASSISTANT, json.loads(os.environ.get("TESTS_SETTINGS", "{}"))
)
for name, value in json.loads(os.environ.get("TESTS_CONSTANTS", "{}")).items():
    setattr(conf, name, value)
