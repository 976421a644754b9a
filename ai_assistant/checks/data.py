"""Which models the tools on rows leave alone, and which fields may be secret."""

import re
from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.contrib.admin.sites import all_sites
from django.core.checks import CheckMessage, Error, Info
from django.db import models

from ai_assistant import conf
from ai_assistant.safety.sensitive import (
    WORD_BREAKS,
    is_opened_field,
    is_sensitive_field,
    is_sensitive_model,
)

# Some of these are secrets, and most are none: the site has to say.
SUSPECT = re.compile(r"(^|_)(key|code|seed|digest)s?\d*($|_)", re.IGNORECASE)
HARMLESS = re.compile(
    r"(^|_)(post|postal|zip|country|currency|language|area|sort)_(key|code)s?($|_)",
    re.IGNORECASE,
)
TEXTS = (models.CharField, models.TextField, models.BinaryField)
MOST_NAMED = 20


def check_data() -> list[CheckMessage]:
    """Return what is wrong with AI_ASSISTANT['DATA_MODELS_EXCLUDED']."""
    return list(_unknown())


def check_secrets() -> list[CheckMessage]:
    """Return the fields of the admin that may be secret, and are not said to be."""
    return list(_suspects())


def _suspects() -> Iterator[CheckMessage]:
    """Yield one message that names the fields of the admin which may be secrets."""
    registered: set[Any] = {model for site in all_sites for model in site._registry}  # noqa: SLF001
    found = sorted(
        f"{model._meta.label_lower}.{field.name}"  # noqa: SLF001
        for model in registered
        if issubclass(model, models.Model) and not is_sensitive_model(model)
        for field in model._meta.concrete_fields  # noqa: SLF001
        if _is_suspect(field)
    )
    if not found:
        return
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    yield Info(
        "The assistant may be told what these fields hold, and by their names some may "
        f"be secrets: {', '.join(found[:MOST_NAMED])}{more}.",
        hint="Name those that are secret in AI_ASSISTANT['SENSITIVE'], and the others in "
        "AI_ASSISTANT['NOT_SENSITIVE'], as 'shop.order.pickup_code'.",
        id="ai_assistant.I131",
    )


def _is_suspect(field: Any) -> bool:  # noqa: ANN401 - a model field
    name = WORD_BREAKS.sub("_", field.name)
    is_text = isinstance(field, TEXTS) and not field.choices and not field.is_relation
    is_named = SUSPECT.search(name) and not HARMLESS.search(name)
    is_open = not is_sensitive_field(field) and not is_opened_field(field)
    return bool(is_text and is_named and is_open)


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
