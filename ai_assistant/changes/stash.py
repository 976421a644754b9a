"""Where the old content of files is kept, away from what the site serves."""

import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage, storages

from ai_assistant import conf

FOLDER = ".assistant-stash"


def stash_storage() -> Any:  # noqa: ANN401 - Django's Storage
    """
    Return the storage of AI_ASSISTANT["STASH_STORAGE"].

    By default a folder beside MEDIA_ROOT, readable by the process only.
    """
    chosen = conf.get("STASH_STORAGE")
    if chosen in settings.STORAGES:
        return storages[chosen]
    if chosen:
        return conf.load("STASH_STORAGE", chosen)()
    return FileSystemStorage(
        location=_beside_media(),
        file_permissions_mode=0o600,
        directory_permissions_mode=0o700,
    )


def stash(content: Any, folder: str) -> str:  # noqa: ANN401 - a file object
    """Keep `content` and return the name under which it is found."""
    content.seek(0)
    name = f"{folder}/{secrets.token_hex(16)}"
    return str(stash_storage().save(name, File(content)))


def _beside_media() -> Path:
    if not settings.MEDIA_ROOT:
        return Path.cwd() / FOLDER
    return Path(settings.MEDIA_ROOT).resolve().parent / FOLDER
