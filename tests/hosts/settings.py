"""
The site of `tests.live_settings` with pages that have an htmx of their own.

TESTS_HOST is JSON: `scripts`, static paths; `config`, htmx's; `body`, attributes of it;
`templates`, folders. Templates of these and of this folder go before those of the apps.
"""

from pathlib import Path

from tests.hosts.page import wanted
from tests.live_settings import *  # noqa: F403 - a settings module is its names
from tests.live_settings import MIDDLEWARE, STATICFILES_DIRS, TEMPLATES

FOLDER = Path(__file__).parent
STATICFILES_DIRS = [*STATICFILES_DIRS, FOLDER / "static"]
_engine = TEMPLATES[0]
TEMPLATES = [
    {
        **_engine,
        "DIRS": [
            *wanted().get("templates", []),
            FOLDER / "templates",
            *_engine["DIRS"],
        ],
        "OPTIONS": {
            "context_processors": [
                *_engine["OPTIONS"]["context_processors"],
                "tests.hosts.page.host",
            ]
        },
    }
]
# Innermost: what the panel is put into is the page as the site has made it.
MIDDLEWARE = [*MIDDLEWARE, "tests.hosts.page.body_attributes"]
