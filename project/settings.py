"""Settings of the demo project. Everything that varies comes from the environment."""

import os
from pathlib import Path

from project import environment

# litellm would otherwise fetch its price list from the network when imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

BASE_DIR = Path(__file__).resolve().parent.parent

DEBUG = environment.flag("DJANGO_DEBUG", default="1")
SECRET_KEY = os.environ.get("DJANGO_SECRET_KEY", "django-insecure-for-the-demo-only")
ALLOWED_HOSTS = environment.allowed_hosts(os.environ.get("HOST", "127.0.0.1"))

CONFORMANCE = environment.flag("ASSISTANT_CONFORMANCE")
REDIS_URL = os.environ.get("REDIS_URL", "")

SERVER = environment.server()  # of `demo_serve`

INSTALLED_APPS = [
    # Makes `runserver` serve ASGI; it loads Twisted, which another server needs not.
    *(["daphne"] if SERVER == "daphne" else []),
    "ai_assistant",
    "channels",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_htmx",
    "project.questionnaires",
    "project.wiki",
    "project.discover",
    "project.demo",
]
if CONFORMANCE:
    INSTALLED_APPS.append("project.conformance")

MIDDLEWARE = [
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    # Inside GZip, so that it sees plain text; after the user is known.
    "ai_assistant.web.middleware.AssistantMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "project.urls"
ASGI_APPLICATION = "project.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
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

DATABASES = {
    "default": environment.database(os.environ.get("DATABASE_URL", ""), folder=BASE_DIR)
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CHANNEL_LAYERS = {"default": environment.channel_layer(REDIS_URL)}

LOGIN_URL = "admin:login"
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

# Section positions are unique where the database can defer the check: PostgreSQL.
SILENCED_SYSTEM_CHECKS = ["models.W038"]
if SERVER != "daphne":
    SILENCED_SYSTEM_CHECKS.append("ai_assistant.W021")  # `runserver` is not used

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]

DEMO_OFFICE_HOURS = None  # (8, 18): from then till then questionnaires are published

AI_ASSISTANT = {
    "ENABLED": True,
    "EXECUTOR": os.environ.get("ASSISTANT_EXECUTOR", "web"),
    "LEASE_S": float(os.environ.get("ASSISTANT_LEASE_S", "10")),
    "PROFILES": {"default": environment.model_profile()},
    # A suite from outside counts the calls.
    "FOLLOWUPS": not CONFORMANCE,
    # The wiki is left to tools of its own; nobody deletes a whole questionnaire by it.
    "API_OPERATIONS": [
        *("questionnaires.*", "sections.*", "questions.*", "question-types.*"),
        *("schedules.*", "log-lines.*", "counts.*", "!questionnaires.destroy"),
    ],
    "TITLES": environment.flag("ASSISTANT_TITLES", default="1") and not CONFORMANCE,
}
if environment.flag("ASSISTANT_UNLIMITED"):  # for load tests
    AI_ASSISTANT["RATES"] = dict.fromkeys(("USER", "SITE", "API", "API_WRITE"), "")
    AI_ASSISTANT["LIMITS"] = {"RUNS_PER_PROCESS": 10_000, "RUNS_PER_USER": 10_000}
if CONFORMANCE:
    AI_ASSISTANT["POLICY"] = {"slow_write": "allow", "needs_approval": "ask"}

# Celery, if there is a broker. A message is acknowledged when its work is done, and
# one whose worker died is delivered again: the row decides whether it runs twice.
CELERY_BROKER_URL = REDIS_URL or None
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 660}  # hard limit and 60 s
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = 600
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BEAT_SCHEDULE = {
    "sweep": {
        "task": "ai_assistant.sweep",
        "schedule": 0.2 * AI_ASSISTANT["LEASE_S"],  # as the web processes do
    }
}
