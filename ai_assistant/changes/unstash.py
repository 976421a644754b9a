"""A stashed file goes with the row that names it."""

import logging
from functools import partial

from django.db import transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver

from ai_assistant.changes.stash import stash_storage
from ai_assistant.models.change import FileChange

logger = logging.getLogger("ai_assistant")


@receiver(post_delete, sender=FileChange)
def unstash_later(*, instance: FileChange, using: str, **_rest: object) -> None:
    """Delete the file once the deletion of its row is certain."""
    if instance.stash:
        transaction.on_commit(partial(_unstash, instance.stash), using=using)


def _unstash(name: str) -> None:
    try:
        stash_storage().delete(name)
    except Exception:
        # The row is gone already: a storage that is away leaves a file behind.
        logger.exception("the stashed file %r cannot be deleted", name)
