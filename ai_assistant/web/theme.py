"""Which theme of the admin the panel takes its colours from."""

from django.apps import apps

from ai_assistant import conf

INSTALLED = ("unfold", "jazzmin")  # apps, and names of their bridge sheets
SHEETS = (*INSTALLED, "none")


def bridge() -> str:
    """
    Return the static file that gives the panel the page's colours; empty: none needed.

    The panel's own sheet knows the variables of Django's admin.
    """
    named = str(conf.get("THEME"))
    if named == "auto":
        named = next(filter(apps.is_installed, INSTALLED), "admin")
    return f"ai_assistant/themes/{named}.css" if named in SHEETS else ""
