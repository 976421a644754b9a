"""Signals for files: a file is saved before its row, a backup deleted with its row."""

import logging
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models.signals import post_delete, pre_save
from django.dispatch import receiver

from ai_assistant.changes.capture.files import stash_storage
from ai_assistant.changes.capture.recorder import current_recorder
from ai_assistant.models.change import FileChange


@receiver(pre_save, dispatch_uid="ai_assistant.changes.capture.files")
def keep_files(*, instance: Any, using: str, **_: object) -> None:
    """Keep the old file of a row whose new one is about to be written."""
    recorder = current_recorder()
    if recorder is not None:
        recorder.files.before_save(instance, using)


logger = logging.getLogger("ai_assistant")


@receiver(post_delete, sender=FileChange)
def unstash_later(*, instance: FileChange, using: str, **_rest: object) -> None:
    """Delete the backup once the deletion of its row is committed."""
    if instance.stash:
        transaction.on_commit(partial(_unstash, instance.stash), using=using)


def _unstash(name: str) -> None:
    try:
        stash_storage().delete(name)
    except Exception:
        # The row is gone already: a storage that is away leaves a file behind.
        logger.exception("the stashed file %r cannot be deleted", name)
