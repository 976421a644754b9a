"""Whether rows are still as they were when they were shown."""

from collections.abc import Mapping

from django.db import router

from ai_assistant.changes.images import digest, images, row_key
from ai_assistant.changes.meta import model_of_label


def moved(versions: Mapping[str, str]) -> list[str]:
    """
    Return the keys of rows that are not as `versions` has them, or are gone.

    In a transaction the rows are locked where the database can, so that they stay.
    """
    wanted: dict[str, list[str]] = {}
    for key in versions:
        label, _, pk = key.partition(":")
        wanted.setdefault(label, []).append(pk)
    now: dict[str, str] = {}
    for label, pks in wanted.items():
        model = model_of_label(label)
        if model is not None:
            for pk, image in images(model, pks, router.db_for_write(model)):
                now[row_key(model, pk)] = digest(image)
    return [key for key, was in versions.items() if now.get(key) != was]
