"""Models that the data tools leave alone, and where old files are kept."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.admin.sites import all_sites
from django.core.checks import CheckMessage, Error, Info
from django.core.exceptions import FieldDoesNotExist
from django.db import models

from ai_assistant import conf
from ai_assistant.changes.capture.files import stash_storage
from ai_assistant.safety.policy.sensitive import (
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
    registered: set[Any] = {model for site in all_sites for model in site._registry}
    found = sorted(
        f"{model._meta.label_lower}.{field.name}"
        for model in registered
        if issubclass(model, models.Model) and not is_sensitive_model(model)
        for field in model._meta.concrete_fields
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


def _is_suspect(field: Any) -> bool:
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


def check_changes() -> list[CheckMessage]:
    """Return what is wrong with the settings of the images of changes."""
    return [*_storage(), *_side_fields(), *_side_models()]


def _storage() -> Iterator[CheckMessage]:
    chosen = conf.get("STASH_STORAGE")
    try:
        storage = stash_storage()
    except Exception as error:  # noqa: BLE001 - storages raise what they like
        yield Error(
            f"AI_ASSISTANT['STASH_STORAGE'] is {chosen!r}, which is no storage: {error}",
            hint="Give a name of STORAGES or the dotted path of a storage class.",
            id="ai_assistant.E140",
        )
        return
    location = getattr(storage, "location", None)
    if location and any(_is_below(location, served) for served in _served()):
        yield Error(
            f"AI_ASSISTANT['STASH_STORAGE'] keeps old files in {str(location)!r}, "
            "which the site serves.",
            hint="Give a storage outside of MEDIA_ROOT and STATIC_ROOT.",
            id="ai_assistant.E141",
        )


def _served() -> Iterator[str]:
    for folder in (settings.MEDIA_ROOT, settings.STATIC_ROOT):
        if folder:
            yield str(folder)


def _is_below(location: str, folder: str) -> bool:
    return Path(location).resolve().is_relative_to(Path(folder).resolve())


def _side_fields() -> Iterator[CheckMessage]:
    for name in conf.get("SIDE_FIELDS"):
        label, _dot, field = str(name).rpartition(".")
        try:
            apps.get_model(label.lower())._meta.get_field(field)
        except (LookupError, ValueError, FieldDoesNotExist):
            yield Error(
                f"AI_ASSISTANT['SIDE_FIELDS'] names {name!r}, and there is no such "
                "field.",
                hint="Write app.model.field, as 'shop.order.changed_by', or remove it.",
                id="ai_assistant.E143",
            )


def _side_models() -> Iterator[CheckMessage]:
    for label in conf.get("SIDE_MODELS"):
        try:
            apps.get_model(str(label).lower())
        except (LookupError, ValueError):
            yield Error(
                f"AI_ASSISTANT['SIDE_MODELS'] names {label!r}, and there is no such "
                "model.",
                hint="Write app.model, as 'shop.order', or remove it.",
                id="ai_assistant.E142",
            )
