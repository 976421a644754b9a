"""All rows of the site, so that two ways to change them can be compared."""

import uuid
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import Any

from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.core.management.color import no_style
from django.db import connection
from django.db.models import Model

# The assistant's own, and what a signed-in browser leaves.
LEFT_OUT = {"ai_assistant", "sessions"}
# A run has no address, and each save a number of its own.
NOT_COMPARED = {
    "last_login",
    "password",
    "remote_addr",
    "remote_ip",
    "remote_port",
    "cid",
}
RECENT = timedelta(minutes=10)

Row = tuple[tuple[str, Any], ...]
State = dict[str, list[Row]]


def state() -> State:
    """Return every row of every table, without what differs from time to time."""
    return {
        model._meta.label: sorted(
            (_row(model, values) for values in _values(model)), key=str
        )
        for model in _models()
    }


def reset_numbers() -> None:
    """Let new rows have the next keys, where a rollback does not take them back."""
    of_site = [one for one in _models() if one._meta.app_label == "host"]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), of_site):
            cursor.execute(statement)


def differences(
    ours: State, theirs: State, stays_null: Collection[str] = ()
) -> list[str]:
    """
    Return what differs, a sentence each: rows, or columns of a row.

    In the columns `stays_null` the tool leaves NULL, where the page empties it.
    """
    return [
        sentence
        for label in ours
        for sentence in _in_table(label, ours[label], theirs[label], stays_null)
    ]


def _in_table(
    label: str, ours: list[Row], theirs: list[Row], stays_null: Collection[str]
) -> Iterator[str]:
    own = [dict(row) for row in ours if row not in theirs]
    real = [dict(row) for row in theirs if row not in ours]
    for mine, real_one in zip_longest(own, real):
        if mine is None or real_one is None:
            yield f"{label}: the tool has {mine}, the page {real_one}"
            continue
        for name, value in mine.items():
            theirs_is = real_one[name]
            stays = f"{label}.{name}" in stays_null
            if value == theirs_is or (stays and (value, theirs_is) == (None, "")):
                continue
            told = f"by the tool {value!r}, by the page {theirs_is!r}"
            yield f"{label}.{name} is {told}"


def _models() -> Iterator[type[Model]]:
    for model in apps.get_models(include_auto_created=True):
        options = model._meta
        if options.managed and not options.proxy and options.app_label not in LEFT_OUT:
            yield model


def _values(model: type[Model]) -> Iterator[dict[str, Any]]:
    rows = model._base_manager.all()
    if model is LogEntry:
        # The tool says in the message that it was the assistant.
        return rows.values("user_id", "content_type_id", "object_id", "action_flag")
    columns = model._meta.local_concrete_fields
    names = [one.attname for one in columns if one.attname not in NOT_COMPARED]
    return rows.values(*names)


def _row(model: type[Model], values: dict[str, Any]) -> Row:
    return tuple((name, _plain(value)) for name, value in values.items())


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        now = datetime.now(UTC) if value.tzinfo else datetime.now()  # noqa: DTZ005
        return "now" if abs(now - value) < RECENT else value
    return "some UUID" if isinstance(value, uuid.UUID) else value
