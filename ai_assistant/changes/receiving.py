"""
The one signal that images need: a file is written before the row that names it.

Rows are noticed by their statements. Signals of deletions are not used: one
receiver of them makes every deletion of the whole site load its rows first.
"""

from typing import Any

from django.db.models.signals import pre_save
from django.dispatch import receiver

from ai_assistant.changes.recorder import current


@receiver(pre_save, dispatch_uid="ai_assistant.changes.files")
def keep_files(*, instance: Any, using: str, **_: object) -> None:  # noqa: ANN401
    """Keep the old file of a row whose new one is about to be written."""
    recorder = current()
    if recorder is not None:
        recorder.files.before_save(instance, using)
