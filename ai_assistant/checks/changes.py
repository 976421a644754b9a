"""Where old files are kept, and which tables are written along with others."""

from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import FieldDoesNotExist

from ai_assistant import conf
from ai_assistant.changes.stash import stash_storage


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
            apps.get_model(label.lower())._meta.get_field(field)  # noqa: SLF001
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
