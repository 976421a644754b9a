"""Take the lock of the object of a run's page, and let it go."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Model

from ai_assistant.changes.capture.row_image import RowImage
from ai_assistant.context.opened import opened_object, page_request
from ai_assistant.context.page import find_page
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.models.clock import free
from ai_assistant.models.lock import ObjectLock
from ai_assistant.models.run import Run, RunState
from ai_assistant.modules.resolve import every_module, module_by_id, other_root
from ai_assistant.safety.identity.permissions import fresh_user
from ai_assistant.safety.object_locks import (
    check_free,
    content_type_of,
    live_locks,
    lock_key,
)

LOCK = "lock"  # the feature of a module
PAGES = frozenset({"change", "delete"})


@dataclass(frozen=True, kw_only=True, slots=True)
class LockTarget:
    """The object that a run locks."""

    model: type[Model]
    key: str


def wants_lock(run: Run, user: Any) -> bool:
    """Return whether the run's module, as its user has it, locks its page's object."""
    return not run.look_only and module_by_id(run.module, user).has(LOCK)


def any_locks() -> bool:
    """Return whether there can be locks at all on this site."""
    return any(module.has(LOCK) for module in every_module())


def target_of(run: Run) -> LockTarget | None:
    """
    Return the root object that the run may change on its page, or None.

    A user who may not change an object does not lock it. Asks code of the site.
    """
    page = find_page(run.page_path)
    if page is None or page.model_admin is None or page.info.action not in PAGES:
        return None
    user = fresh_user(run.user_id)
    if user is None or RunScope(run, user).is_read_only:
        return None
    opened = opened_object(page, user)
    request = page_request(page, user)
    if opened is None or not page.model_admin.has_change_permission(request, opened):
        return None
    root = other_root(page, module_by_id(run.module), user) or opened
    if root != opened:
        admin = page.model_admin.admin_site._registry.get(type(root))
        if admin is None or not admin.has_change_permission(request, root):
            return None
    return LockTarget(model=type(root), key=lock_key(type(root), root.pk))


def take(run: Run, target: LockTarget) -> bool:
    """
    Lock the object for the run; False if another run works on it.

    Requires the lease.
    """
    content_type = content_type_of(target.model)
    held = ObjectLock.objects.filter(content_type=content_type, object_id=target.key)
    if live_locks().filter(pk__in=held).exclude(run=run).exists():
        return False
    held.delete()  # of a run that has lost it, or of an earlier attempt of this run
    try:
        with transaction.atomic():
            ObjectLock.objects.create(
                content_type=content_type,
                object_id=target.key,
                run=run,
                user_id=run.user_id,
            )
    except IntegrityError:
        return False  # another was faster
    return True


def check_rows_free(rows: Iterable[RowImage], run: Run) -> None:
    """
    Raise ToolFailed if another run works on one of the rows that were changed.

    Call it in the transaction of the write, so that it is rolled back.
    """
    if not any_locks():
        return
    keys: dict[type[Model], list[object]] = {}
    for row in rows:
        keys.setdefault(row.model, []).append(row.pk)
    for model, changed in keys.items():
        check_free(model, changed, run.pk)


def let_go(run: Run) -> None:
    """Unlock what the run has locked: it ends, or waits."""
    if any_locks():
        ObjectLock.objects.filter(run=run).delete()


def let_go_of_left() -> None:
    """Remove the locks of runs that do not work any more. Call it in a transaction."""
    if any_locks():
        free(ObjectLock.objects.exclude(run__state=RunState.RUNNING)).delete()
