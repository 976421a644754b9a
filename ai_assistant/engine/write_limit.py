"""How long the write phase of a tool may hold the database."""

import threading
import time

from django.db import connection
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.exceptions import ToolFailed

_thread = threading.local()


def limit_s(own_s: float | None = None) -> float:
    """Return the seconds of a write phase: WRITE_TIMEOUT_S, or more if it says so."""
    default_s = 1.0 if connection.vendor == "sqlite" else 5.0
    usual_s = float(conf.get("WRITE_TIMEOUT_S") or default_s)
    return max(own_s or 0.0, usual_s)


def left_s() -> float:
    """
    Return the seconds that are left of the write phase in this thread, 0 at least.

    All of them where no phase has begun: in a piece of a background tool.
    """
    ends_at = getattr(_thread, "ends_at", None)
    return limit_s() if ends_at is None else max(0.0, ends_at - time.monotonic())


class within_limit:  # noqa: N801 - reads as a word of the sentence in which it stands
    """Undo a write phase that held the database for too long."""

    def __init__(self, own_s: float | None = None) -> None:
        self.limit_s = limit_s(own_s)

    def __enter__(self) -> None:
        self.started_at = time.monotonic()
        _thread.ends_at = self.started_at + self.limit_s
        self.sites_own = ""  # limit of a statement, as PostgreSQL writes it
        if connection.vendor == "postgresql":
            # The server ends a statement that waits for a lock of the host's.
            self.sites_own = _statement_timeout()
            _set_statement_timeout(f"{int(self.limit_s * 1000)}ms")

    def __exit__(self, kind: object, *_rest: object) -> None:
        _thread.ends_at = None
        took_s = time.monotonic() - self.started_at
        if kind is None and took_s > self.limit_s:
            raise ToolFailed(
                _("The change took %(took).1f s (at most %(limit)g s) and was undone.")
                % {"took": took_s, "limit": self.limit_s},
                suggestion=_("Change less at once."),
            )
        if kind is None and self.sites_own:
            # A write phase that failed is undone by its savepoint, and this with it.
            _set_statement_timeout(self.sites_own)


def _statement_timeout() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('statement_timeout')")
        return str(cursor.fetchone()[0])


def _set_statement_timeout(limit: str) -> None:
    """Let no statement take longer until the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [limit])
