"""The settings of the demo with a database that is thrown away."""

import os

from project.settings import *  # noqa: F403 - a settings module is its names

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ["AIA_BENCH_DB"],
    }
}
