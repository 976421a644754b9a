"""Which models the tools on rows leave alone."""

from collections.abc import Iterator

from django.apps import apps
from django.core.checks import CheckMessage, Error

from ai_assistant import conf


def check_data() -> list[CheckMessage]:
    """Return what is wrong with AI_ASSISTANT['DATA_MODELS_EXCLUDED']."""
    return list(_unknown())


def _unknown() -> Iterator[CheckMessage]:
    for label in conf.get("DATA_MODELS_EXCLUDED"):
        try:
            apps.get_model(str(label).lower())
        except (LookupError, ValueError):
            yield Error(
                f"AI_ASSISTANT['DATA_MODELS_EXCLUDED'] names {label!r}, and there is no "
                "such model.",
                hint="Write app.model, as 'shop.order', or remove it.",
                id="ai_assistant.E130",
            )
