"""
The site of one package, named by HOSTS_PACKAGE.

`sites/NAME/site.py` says what the package wants: APPS, those that come before the
admin's, MIDDLEWARE and SETTINGS. Its models have the app label `host`.
"""

import importlib
import os
from pathlib import Path

NAME = os.environ["HOSTS_PACKAGE"]
OWN_APP = f"tests.hosts.packages.sites.{NAME}"
_site = importlib.import_module(f"{OWN_APP}.site")

SECRET_KEY = "of-the-tests-alone-and-long-enough-to-be-a-key"
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
ROOT_URLCONF = "tests.hosts.packages.urls"
STATIC_URL = "static/"
MEDIA_ROOT = Path(__file__).parents[3] / "build" / "hosts-media"
USE_TZ = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("nl", "Dutch")]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
INSTALLED_APPS = [
    *getattr(_site, "APPS_BEFORE", ()),
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "ai_assistant",
    *_site.APPS,
    "tests.hosts.packages.apps.HostConfig",
]
MIDDLEWARE = [
    *getattr(_site, "MIDDLEWARE_BEFORE", ()),
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "ai_assistant.web.middleware.AssistantMiddleware",
    *getattr(_site, "MIDDLEWARE", ()),
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
AI_ASSISTANT = {"PROFILES": {"default": {"MODEL": "openai/none", "API_KEY": "none"}}}

globals().update(getattr(_site, "SETTINGS", {}))
