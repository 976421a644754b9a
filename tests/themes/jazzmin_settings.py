"""The site of `tests.live_settings` in Jazzmin."""

import json
import os

from tests.live_settings import *  # noqa: F403 - a settings module is its names
from tests.live_settings import INSTALLED_APPS

INSTALLED_APPS = ["jazzmin", *INSTALLED_APPS]
JAZZMIN_SETTINGS = {
    "use_google_fonts_cdn": False,  # tests go to no other host
    "show_theme_chooser": True,
    "related_modal_active": True,
}
# TESTS_JAZZMIN is JSON: {"theme": "flatly", "default_theme_mode": "auto"}.
JAZZMIN_UI_TWEAKS = json.loads(os.environ.get("TESTS_JAZZMIN", "{}"))
