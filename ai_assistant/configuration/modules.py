"""What rows say of modules."""

from asyncio import get_running_loop
from collections.abc import Iterable
from typing import Any

from django.db import DatabaseError

from ai_assistant.configuration.rows import rows_of
from ai_assistant.models.module import (
    Module,
    features_error,
    operation_errors,
    page_errors,
)
from ai_assistant.modules.settings import ModuleSettings

Read = tuple[Iterable[Any], tuple[ModuleSettings, ...]]

NOT_YET: Read = ([], ())
_read = NOT_YET


def current_settings() -> tuple[ModuleSettings, ...]:
    """
    Return what the rows say now; the same object until they change.

    A row that cannot be is left out as a whole; the doctor says which. Seldom asks the
    database, and on an event loop never: there it is what this process read last, as
    each page with the panel does. Before the tables are made there are none.
    """
    global _read  # noqa: PLW0603 - made once of each version of the rows
    if _is_on_event_loop():
        return _read[1]
    try:
        rows = rows_of(Module)
    except DatabaseError:
        if _read is not NOT_YET:
            raise
        return ()
    if rows is not _read[0]:
        _read = rows, tuple(map(settings_of, filter(is_sound, rows)))
    return _read[1]


def _is_on_event_loop() -> bool:
    try:
        get_running_loop()
    except RuntimeError:
        return False
    return True


def is_sound(row: Module) -> bool:
    """Return whether a row can be, however it was stored."""
    wrong = (*page_errors(row.pages), *operation_errors(row.api_operations))
    return not (features_error(row.features) or wrong)


def settings_of(row: Module) -> ModuleSettings:
    """Return what a row says."""
    return ModuleSettings(
        id=row.name,
        is_active=row.is_active,
        group=row.group.name if row.group else "",
        priority=row.priority,
        label=row.label,
        pages=tuple(row.pages.split()),
        text=row.text,
        tools=tuple(row.tools.split()),
        models=tuple(row.data_models.lower().split()),
        actions=tuple(row.actions.split()),
        api_operations=tuple(row.api_operations.split()),
        features=row.features,
        limits=row.limits,
        agent=row.agent,
        profile=row.profile,
        read_only=row.read_only,
        read_only_permission=row.read_only_permission,
        read_only_field=row.read_only_field,
        read_only_values=tuple(
            value.strip() for value in row.read_only_values.split(",")
        ),
        read_only_reason=row.read_only_reason,
    )
