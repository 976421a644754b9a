"""Files of the rows of a recording, and where their old content is kept."""

import hashlib
import logging
import os
import secrets
import tempfile
import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage, storages
from django.db import models, transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver

from ai_assistant import conf
from ai_assistant.changes.capture.columns import unseal
from ai_assistant.changes.capture.row_image import FileImage, RowImage
from ai_assistant.changes.capture.sql_text import UNCLEAR
from ai_assistant.changes.values import columns, meta
from ai_assistant.models.change import FileChange
from ai_assistant.safety.site_code import value_or

if TYPE_CHECKING:
    from ai_assistant.changes.capture.recorder import Recorder

FOLDER = ".assistant-stash"


def backup_storage() -> Any:
    """
    Return the storage of AI_ASSISTANT["STASH_STORAGE"].

    By default a folder beside MEDIA_ROOT, readable by the process only.
    """
    setting = conf.get("STASH_STORAGE")
    if setting in settings.STORAGES:
        return storages[setting]
    if setting:
        return conf.import_named("STASH_STORAGE", setting)()
    return FileSystemStorage(
        location=_beside_media(),
        file_permissions_mode=0o600,
        directory_permissions_mode=0o700,
    )


def place_of_old_files() -> str:
    """
    Return where the old files of changes are kept. Raise what the storage raises.

    Nothing is written: a folder would be that of who runs this, not of the site.
    """
    storage = backup_storage()
    if not isinstance(storage, FileSystemStorage):
        storage.exists("probe")
        return type(storage).__name__
    place = Path(storage.location)
    folder = next(one for one in (place, *place.parents) if one.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(folder)
    return str(place)


def store_content(content: Any, folder: str) -> str:
    """Keep `content` and return the name under which it is found."""
    content.seek(0)
    name = f"{folder}/{secrets.token_hex(16)}"
    return str(backup_storage().save(name, File(content)))


def _beside_media() -> Path:
    if not settings.MEDIA_ROOT:
        return Path.cwd() / FOLDER
    return Path(settings.MEDIA_ROOT).resolve().parent / FOLDER


logger = logging.getLogger("ai_assistant")

CLOCK_S = 0.01  # by which the times of a file system may lag behind
IN_MEMORY_BYTES = 1024**2  # larger ones are kept in temporary files

Key = tuple[str, Any, Any, str]  # alias, model, key, attname


class Files:
    """Copies of files that one recording keeps."""

    def __init__(self, recorder: "Recorder") -> None:
        self.size_bytes = 0  # of what is kept
        self._recorder = recorder
        self._began_at = time.time() - CLOCK_S
        self._copies: dict[Key, FileImage] = {}
        self._missing: set[Key] = set()  # since before anything was written
        # What was only tried out is never stored: nobody closes it then.
        self._opened: list[Any] = []
        weakref.finalize(self, _close_all, self._opened)

    def before_save(self, instance: Any, alias: str) -> None:
        """Keep the files of the row that `instance` is about to write over."""
        for field in meta(instance).concrete_fields:
            if not isinstance(field, models.FileField):
                continue
            file = field.value_from_object(instance)
            pk = getattr(instance, meta(field.model).pk.attname)
            if not file or getattr(file, "_committed", True) or pk is None:
                continue
            self._recorder.meet(field.model, alias, [pk])
            row = self._recorder.row(field.model, alias, pk)
            if row is not None:
                self._keep(row, field)

    def before_update(self, rows: list[RowImage], assigned: dict[str, Any]) -> None:
        """Keep the files that an UPDATE of these columns replaces."""
        for row in rows:
            for field in _fields(row.model):
                if field.column in assigned:
                    new = assigned[field.column]
                    if new is UNCLEAR or new != _name(row.before, field):
                        self._keep(row, field)

    def note_missing(self, rows: list[RowImage]) -> None:
        """Note which files of the rows are missing before anything is written."""
        for row in rows:
            for field in _fields(row.model):
                name = _name(row.before, field)
                if name and not _may_be_there(field.storage, name):
                    self._missing.add(_key(row, field))

    def keep_all(self, rows: list[RowImage]) -> None:
        """Keep the files of rows that are deleted."""
        for row in rows:
            for field in _fields(row.model):
                self._keep(row, field)

    def finish(self, rows: list[RowImage]) -> None:
        """Give each row its changed files."""
        for row in rows:
            for field in _fields(row.model):
                before, after = _name(row.before, field), _name(row.after, field)
                if before and before == after:
                    self._finish_same(row, field)
                elif before or after:
                    self._finish_other(row, field, after)

    def close(self) -> None:
        """Discard the copies."""
        _close_all(self._opened)
        self._copies.clear()

    def _finish_same(self, row: RowImage, field: Any) -> None:
        file = self._copies.get(_key(row, field))
        name = _name(row.after, field)
        if file is None:
            if self._may_be_new(row, field, name):
                self._recorder.gap(meta(row.model).db_table, "file")
            return
        file.sha256_after = content_digest(field.storage, name)
        if file.sha256_after != file.sha256_before:
            row.files.append(file)

    def _finish_other(self, row: RowImage, field: Any, after: str) -> None:
        self._keep(row, field)
        file = self._copies.get(_key(row, field))
        if file is None:
            file = FileImage(field=field.attname, name=after)
        file.sha256_after = content_digest(field.storage, after) if after else ""
        row.files.append(file)

    def _keep(self, row: RowImage, field: Any) -> None:
        name, key = _name(row.before, field), _key(row, field)
        if not name or key in self._copies or key in self._missing:
            return
        file = FileImage(field=field.attname, name=name)
        self._copies[key] = file
        try:
            self._read(file, field.storage)
        except Exception as error:  # noqa: BLE001 - storages raise what they like
            logger.warning("the file %r cannot be kept: %s", name, error)
        if file.content is None:
            self._recorder.gap(meta(row.model).db_table, "file")

    def _read(self, file: FileImage, storage: Any) -> None:
        size_bytes = storage.size(file.name)
        if self.size_bytes + size_bytes > conf.CHANGED_BYTES:
            return
        content = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - open until it is stashed
        self._opened.append(content)
        file.sha256_before = _sha256(storage, file.name, content.write)
        content.seek(0)
        self.size_bytes += size_bytes
        file.content = content

    def _may_be_new(self, row: RowImage, field: Any, name: str) -> bool:
        storage = field.storage
        if _key(row, field) in self._missing:
            return _may_be_there(storage, name)
        changed_at = value_or(None, lambda: storage.get_modified_time(name))
        if changed_at is None:
            return True  # gone, or a storage that keeps no times
        return bool(changed_at.timestamp() >= self._began_at)


def _close_all(opened: list[Any]) -> None:
    while opened:
        opened.pop().close()


def _fields(model: Any) -> list[Any]:
    return [field for field in columns(model) if isinstance(field, models.FileField)]


def _name(image: dict[str, Any] | None, field: Any) -> str:
    return unseal((image or {}).get(field.attname)) or ""


def _key(row: RowImage, field: Any) -> Key:
    return row.alias, row.model, row.pk, field.attname


def _may_be_there(storage: Any, name: str) -> bool:
    return bool(value_or(True, lambda: storage.exists(name)))


def content_digest(storage: Any, name: str) -> str:
    """Return the SHA-256 of a stored file, "" if it cannot be read."""
    return value_or("", lambda: _sha256(storage, name))


def restored_file(storage: Any, name: str, file: FileChange) -> str:
    """Give a file its old content again, and return the name that it has now."""
    found = content_digest(storage, name)
    if found == file.sha256_before:
        return name
    with backup_storage().open(file.stash, "rb") as content:
        if found and found == file.sha256_after:
            storage.delete(name)  # written over by the change; any other is not ours
        return str(storage.save(name, File(content, name=name)))


def _sha256(storage: Any, name: str, *takers: Callable[[bytes], Any]) -> str:
    """Return the SHA-256 of a stored file, and give its content to `takers`."""
    digest = hashlib.sha256()
    with storage.open(name, "rb") as opened:
        for chunk in opened.chunks():
            for take in (digest.update, *takers):
                take(chunk)
    return digest.hexdigest()


@receiver(post_delete, sender=FileChange)
def delete_backup_later(*, instance: FileChange, using: str, **_rest: object) -> None:
    """Delete the backup once the deletion of its row is committed."""
    if instance.stash:
        transaction.on_commit(partial(_delete_backup, instance.stash), using=using)


def _delete_backup(name: str) -> None:
    try:
        backup_storage().delete(name)
    except Exception:
        # The row is gone already: a storage that is away leaves a file behind.
        logger.exception("the stashed file %r cannot be deleted", name)
