"""The site of `tests.live_settings` in django-unfold."""

from tests.live_settings import *  # noqa: F403 - a settings module is its names
from tests.live_settings import INSTALLED_APPS

# Before the admin, whose templates it replaces; last who dresses the site's own.
INSTALLED_APPS = ["unfold", *INSTALLED_APPS, "tests.themes.dressed"]
