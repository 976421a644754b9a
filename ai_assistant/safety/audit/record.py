"""Add an entry to the audit log, in the transaction of what it records."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import HttpRequest

from ai_assistant import conf
from ai_assistant.models import clock
from ai_assistant.models.audit import AuditEntry
from ai_assistant.safety.audit.chain import entry_hash
from ai_assistant.text.redaction.redact import redact

TEXT_CHARS = 500
ITEMS = 50  # of a list or an object
DEPTH = 6
ALL_CHARS = 8000
REPLACEMENT = "\ufffd"


def storable_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return `details` as they are stored.

    Numbers with a fraction become texts: PostgreSQL would spell some of them
    differently, and the hash would not be theirs any more.
    """
    storable = {str(name): _plain(value, DEPTH) for name, value in details.items()}
    if len(json.dumps(storable)) <= ALL_CHARS:
        return storable
    return {name: _short(value) for name, value in storable.items()}


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Mapping) and depth:
        items = list(value.items())[:ITEMS]
        return {_text(str(name)): _plain(item, depth - 1) for name, item in items}
    if isinstance(value, list | tuple | set | frozenset) and depth:
        return [_plain(item, depth - 1) for item in list(value)[:ITEMS]]
    return _text(str(value))


def _text(text: str) -> str:
    text = text.encode(errors="replace").decode().replace("\0", REPLACEMENT)
    text = redact(text)  # before it is cut: half a key would not be known as one
    if len(text) <= TEXT_CHARS:
        return text
    return f"{text[:TEXT_CHARS]} [{len(text)} characters]"


def _short(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= TEXT_CHARS:
        return value
    return f"{text[:TEXT_CHARS]} [{len(text)} characters]"


Details = Mapping[str, Any] | Callable[[], Mapping[str, Any] | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """An entry to be recorded. `user` is a user or the key of one."""

    action: str
    user: Any = None
    tool: str = ""
    run_id: UUID | None = None
    call_id: UUID | None = None
    details: Details | None = None
    ip: str = ""


class _Unit(threading.local):
    entries: list[Entry] | None = None
    ip: str = ""


_unit = _Unit()


def record(  # noqa: PLR0913 - each is a column
    action: str,
    *,
    user: Any,
    tool: str = "",
    run_id: UUID | None = None,
    call_id: UUID | None = None,
    details: Details | None = None,
    ip: str = "",
) -> None:
    """
    Record that `user` did `action`, or was refused it.

    `details` is any JSON, or a function that returns it, which is called when the
    entry is written; if that returns None, the action was rolled back, and the
    entry is left out. Outside of `gathered` it is written at once.
    """
    entry = Entry(
        action=action,
        user=user,
        tool=tool,
        run_id=run_id,
        call_id=call_id,
        details=details,
        ip=ip,
    )
    if _unit.entries is not None:
        _unit.entries.append(entry)
        return
    with transaction.atomic():
        _write([entry])


@contextmanager
def write_at_end() -> Iterator[None]:
    """Write at the end what is recorded inside. Call it in a transaction."""
    if _unit.entries is not None:
        yield
        return
    entries: list[Entry] = []
    _unit.entries, _unit.ip = entries, ""
    try:
        yield
        if entries:
            _write(entries)
    finally:
        _unit.entries, _unit.ip = None, ""


def came_from(ip: str) -> None:
    """Name the address of the request in all entries of this unit."""
    if _unit.entries is not None:
        _unit.ip = ip


def request_ip(request: HttpRequest) -> str:
    """Return the address for the log: nothing, unless the site wants it."""
    remote = request.META.get("REMOTE_ADDR") or ""
    return remote[:45] if conf.get("AUDIT", "IP") else ""


def _write(entries: Sequence[Entry]) -> None:
    names: dict[Any, tuple[Any, str]] = {}
    rows = [row for entry in entries if (row := _row(entry, names)) is not None]
    if not rows:
        return
    moment = clock.now()
    for row in rows:
        row.created_at = moment
        row.hash = entry_hash(row)
    AuditEntry.objects.bulk_create(rows)


def _row(entry: Entry, names: dict[Any, tuple[Any, str]]) -> AuditEntry | None:
    details = entry.details() if callable(entry.details) else entry.details or {}
    if details is None:
        return None
    user_id, user_name = _user_key_and_name(entry.user, names)
    if user_id is not None:
        details = {**details, "user_id": str(user_id)}
    return AuditEntry(
        user_id=user_id,
        user_name=user_name[:200],
        action=entry.action[:40],
        tool=entry.tool[:200],
        run_id=entry.run_id,
        call_id=entry.call_id,
        details=storable_details(details),
        ip=entry.ip or _unit.ip,
    )


def _user_key_and_name(user: Any, names: dict[Any, tuple[Any, str]]) -> tuple[Any, str]:
    """Return the key and the name of a user; no key if there is none any more."""
    if user is None:
        return None, ""
    if hasattr(user, "get_username"):
        return user.pk, user.get_username()
    if user not in names:
        model = get_user_model()
        owner = model._default_manager.filter(pk=user).first()
        names[user] = (owner.pk, owner.get_username()) if owner else (None, str(user))
    return names[user]
