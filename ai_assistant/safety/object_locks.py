"""
Who works on an object just now: only that run may save it.

A lock holds while its run is `running` and has its lease. So it ends with the run,
while the run waits, and when the process of the run is gone.
"""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from ai_assistant.exceptions import ToolFailed
from ai_assistant.models.clock import database_now
from ai_assistant.models.lock import ObjectLock
from ai_assistant.models.run import RunState


def live_locks() -> QuerySet[ObjectLock]:
    """Return the active locks."""
    return ObjectLock.objects.filter(
        run__state=RunState.RUNNING, run__lease_until__gte=database_now()
    )


def at_work_on(
    model: type[Model], keys: Collection[Any] | None = None
) -> QuerySet[ObjectLock]:
    """
    Return the active locks of these objects, or of all.

    A proxy counts as the table behind it.
    """
    locks = live_locks().filter(content_type=content_type_of(model))
    if keys is not None:
        locks = locks.filter(object_id__in=_lock_keys(model, keys))
    return locks.select_related("user")


def check_free(model: type[Model], keys: Iterable[Any], run_id: UUID) -> None:
    """Raise ToolFailed if another run than `run_id` works on one of these objects."""
    lock = at_work_on(model, list(keys)).exclude(run_id=run_id).first()
    if lock is not None:
        raise ToolFailed(
            _(
                "The assistant is changing this %(name)s for %(user)s just now "
                "(id %(id)s). Try again when that is done."
            )
            % {
                "name": model._meta.verbose_name,
                "user": lock.user.get_username(),
                "id": lock.object_id,
            }
        )


def _lock_keys(model: type[Model], keys: Collection[Any]) -> set[str]:
    lock_keys = set()
    for key in keys:
        try:
            lock_keys.add(lock_key(model, key))
        except (ValidationError, ValueError, TypeError, OverflowError):
            continue  # no object has it
    return lock_keys


def content_type_of(model: type[Model]) -> ContentType:
    """Return the content type under which objects of `model` are locked."""
    return ContentType.objects.get_for_model(model)


def lock_key(model: type[Model], key: Any) -> str:
    """Return the key of an object for locks; "05" and 5 have the same key."""
    field: Any = model._meta.pk
    return str(field.to_python(key))
