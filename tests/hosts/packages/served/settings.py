"""
The site as a server has it: its rows in a file, its model a scripted one.

HOSTS_DATABASE is the path of that file, HOSTS_MODEL the address of the model. What
breaks a strict policy is told and works all the same: packages have inline scripts.
"""

import os

from ai_assistant import conf
from tests.hosts.packages.settings import *  # noqa: F403 - a settings module is its names
from tests.hosts.packages.settings import AI_ASSISTANT, MIDDLEWARE

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ["HOSTS_DATABASE"],
        "OPTIONS": {"timeout": 30},  # seconds
    }
}
MIDDLEWARE = ["tests.servers.csp.reported_policy", *MIDDLEWARE]
AI_ASSISTANT = conf.merged(
    AI_ASSISTANT,
    {
        "ENABLED": True,
        "PROFILES": {
            "default": {
                "MODEL": "openai/scripted",
                "API_BASE": os.environ["HOSTS_MODEL"],
                "API_KEY": "sk-test",
            }
        },
        "TITLES": False,
        "FOLLOWUPS": False,
        "TIMEOUTS": {"WRITE_S": 30.0},  # no write is undone as the machine is busy
    },
)
