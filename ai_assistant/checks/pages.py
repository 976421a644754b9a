"""What the panel is drawn with: static files and templates."""

from collections.abc import Iterator

from django.contrib.staticfiles import finders
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name
from django.core.exceptions import ImproperlyConfigured
from django.template import TemplateDoesNotExist
from django.template.loader import get_template
from django.templatetags.static import static

STATIC = ("ai_assistant/boot.js", "ai_assistant/panel.css", "ai_assistant/panel.js")
TEMPLATE = "ai_assistant/panel.html"


def check_pages() -> list[CheckMessage]:
    """Return what the panel cannot be drawn without."""
    return [*_static_files(), *_templates()]


def _static_files() -> Iterator[CheckMessage]:
    for name in STATIC:
        if finders.find(name) is None:
            yield Error(
                f"No finder of STATICFILES_FINDERS finds {name!r}.",
                hint=(
                    "Use 'django.contrib.staticfiles.finders.AppDirectoriesFinder', or "
                    "reinstall the package if its static files are missing."
                ),
                id="ai_assistant.E030",
            )
            return
    try:
        static(STATIC[0])
    except (ValueError, ImproperlyConfigured) as error:
        yield Warning(
            f"{STATIC[0]!r} has no address, so that every page with the panel fails: "
            f"{error}",
            hint="Set STATIC_URL, and run `python manage.py collectstatic`.",
            id="ai_assistant.W031",
        )


def _templates() -> Iterator[CheckMessage]:
    try:
        get_template(TEMPLATE)
    except (TemplateDoesNotExist, ImproperlyConfigured):
        yield Error(
            f"The template {TEMPLATE!r} cannot be loaded.",
            hint="Set 'APP_DIRS': True for the DjangoTemplates backend in TEMPLATES.",
            id="ai_assistant.E032",
        )
