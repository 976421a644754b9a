"""Long tools: Celery, its broker, and the time after which it delivers again."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from ai_assistant import conf

# Brokers that deliver a message again after a time, and their default for it.
VISIBILITY_S = {"redis": 3600, "rediss": 3600, "sentinel": 3600, "sqs": 1800}


def check_background() -> list[CheckMessage]:
    """Return what keeps long tools from being carried out."""
    wanted = conf.get("BACKGROUND")
    if wanted == "threads":
        return []
    broker = getattr(settings, "CELERY_BROKER_URL", None)
    if wanted == "auto" and not broker:
        return []
    if find_spec("celery") is None:
        return [_no_celery(wanted)]
    from celery import current_app  # noqa: PLC0415 - Celery is optional

    return [*_celery_app(current_app.conf)]


def _no_celery(wanted: str) -> CheckMessage:
    hint = "Install it: pip install 'ai-assistant[celery]'."
    if wanted == "celery":
        return Error(
            "AI_ASSISTANT['BACKGROUND'] is 'celery', but the package 'celery' is not "
            "installed.",
            hint=hint,
            id="ai_assistant.E050",
        )
    return Warning(
        "CELERY_BROKER_URL is set, but the package 'celery' is not installed: long "
        "tools run in threads of the web process.",
        hint=f"{hint} Or set AI_ASSISTANT['BACKGROUND'] to 'threads'.",
        id="ai_assistant.W052",
    )


def _celery_app(app: Any) -> Iterator[CheckMessage]:  # noqa: ANN401 - Celery's settings
    broker = app.broker_write_url or app.broker_url
    if not broker:
        yield Error(
            "Long tools go to Celery, but the current Celery app has no broker.",
            hint=(
                "Set CELERY_BROKER_URL, and import the site's Celery app in the "
                "__init__.py of the project, so that tasks find it."
            ),
            id="ai_assistant.E051",
        )
        return
    default_s = VISIBILITY_S.get(str(broker).partition(":")[0])
    if default_s is None:
        return
    options = app.broker_transport_options or {}
    visible_s, limit_s = options.get("visibility_timeout"), app.task_time_limit
    if (visible_s or default_s) < (limit_s or default_s):
        takes = (
            f"a task may take {limit_s} s" if limit_s else "a task has no time limit"
        )
        yield Warning(
            f"The broker delivers a message again after {visible_s or default_s} s, "
            f"but {takes}: it comes while its call is worked on.",
            hint=(
                "Set CELERY_BROKER_TRANSPORT_OPTIONS['visibility_timeout'] to at least "
                "CELERY_TASK_TIME_LIMIT and a minute more."
            ),
            id="ai_assistant.W053",
        )
