"""Installed apps, middleware, addresses, static files and templates."""

from collections.abc import Iterator

from django.apps import apps
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.contrib.staticfiles import finders
from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.gzip import GZipMiddleware
from django.template import TemplateDoesNotExist
from django.template.loader import get_template
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse

from ai_assistant.checks.messages import imported, problem
from ai_assistant.web.middleware import AssistantMiddleware

STATIC = ("ai_assistant/boot.js", "ai_assistant/panel.css", "ai_assistant/panel.js")
TEMPLATE = "ai_assistant/panel.html"


def check_pages() -> list[CheckMessage]:
    """Return what is missing to draw the panel."""
    return [*_static_files(), *_templates()]


def _static_files() -> Iterator[CheckMessage]:
    for name in STATIC:
        if finders.find(name) is None:
            yield problem(
                "ai_assistant.E030",
                f"No finder of STATICFILES_FINDERS finds {name!r}.",
                "Use 'django.contrib.staticfiles.finders.AppDirectoriesFinder', or "
                "reinstall the package if its static files are missing.",
            )
            return
    try:
        static(STATIC[0])
    except (ValueError, ImproperlyConfigured) as error:
        yield problem(
            "ai_assistant.W031",
            f"{STATIC[0]!r} has no URL, so every page with the panel fails: {error}",
            "Set STATIC_URL, and run `python manage.py collectstatic`.",
        )


def _templates() -> Iterator[CheckMessage]:
    try:
        get_template(TEMPLATE)
    except (TemplateDoesNotExist, ImproperlyConfigured):
        yield problem(
            "ai_assistant.E032",
            f"The template {TEMPLATE!r} cannot be loaded.",
            "Set 'APP_DIRS': True for the DjangoTemplates backend in TEMPLATES.",
        )


OWN = "ai_assistant.web.middleware.AssistantMiddleware"
OUTSIDE = {
    SessionMiddleware: "otherwise the user is not known",
    AuthenticationMiddleware: "otherwise the user is not known",
    CsrfViewMiddleware: "otherwise the panel's forms have no valid token",
    GZipMiddleware: "otherwise it sees compressed pages and leaves them alone",
}


def check_site() -> list[CheckMessage]:
    """Return what is missing in the site's configuration."""
    return [*_apps(), *_middleware(), *_addresses()]


def _apps() -> Iterator[CheckMessage]:
    if not apps.is_installed("django.contrib.admin"):
        yield problem(
            "ai_assistant.E020",
            "INSTALLED_APPS has no 'django.contrib.admin'.",
            "Add it: the panel's pages extend the admin's.",
        )
    if not apps.is_installed("daphne"):
        yield problem(
            "ai_assistant.W021",
            "INSTALLED_APPS has no 'daphne': `runserver` serves WSGI, without sockets "
            "and without executing runs.",
            "Add 'daphne' as the first app, or silence this check if another ASGI "
            "server serves the site, in development too.",
        )
    names = [config.name for config in apps.get_app_configs()]
    if "channels" in names and names.index("channels") < names.index("ai_assistant"):
        yield problem(
            "ai_assistant.W022",
            "'channels' comes before 'ai_assistant' in INSTALLED_APPS: `runworker` is "
            "then Channels' own, which executes no runs.",
            "Move 'ai_assistant' before 'channels'.",
        )


def _middleware() -> Iterator[CheckMessage]:
    # Django names what cannot be imported when it loads the middlewares.
    classes = [imported(path)[0] for path in settings.MIDDLEWARE]
    position = _position(classes, AssistantMiddleware)
    if position is None:
        yield problem(
            "ai_assistant.E026",
            f"MIDDLEWARE has no {OWN!r}: no page has the panel.",
            "Add it after 'django.contrib.auth.middleware.AuthenticationMiddleware'.",
        )
        return
    for outer, reason in OUTSIDE.items():
        at = _position(classes, outer)
        if at is not None and position < at:
            yield problem(
                "ai_assistant.E027",
                f"{OWN!r} comes before {settings.MIDDLEWARE[at]!r} in MIDDLEWARE.",
                f"Move it after that one: {reason}.",
            )


def _position(classes: list[object], base: type) -> int | None:
    for index, candidate in enumerate(classes):
        if isinstance(candidate, type) and issubclass(candidate, base):
            return index
    return None


def _addresses() -> Iterator[CheckMessage]:
    if not getattr(settings, "ROOT_URLCONF", None):
        return
    if not has_address("ai_assistant:health"):
        yield problem(
            "ai_assistant.E028",
            "The URLconf does not include 'ai_assistant.urls'.",
            "Add path('assistant/', include('ai_assistant.urls')) to urlpatterns.",
        )
    if not has_address("admin:login"):
        yield problem(
            "ai_assistant.E029",
            "The URLconf has no URL named 'admin:login', where people sign in.",
            "Add path('admin/', admin.site.urls) to urlpatterns.",
        )


def has_address(name: str) -> bool:
    """Return whether the site has a URL of that name without arguments."""
    try:
        reverse(name)
    except NoReverseMatch:
        return False
    return True
