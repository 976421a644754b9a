"""A short-lived cache of the rows of a table, in each process."""

import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db import router, transaction
from django.db.models import Model
from django.db.models.signals import post_delete, post_save

from ai_assistant import conf

T = TypeVar("T")


class RowCache(Generic[T]):
    """
    Caches what `read` returns for POLICY_TTL_S, or until rows change in this process.

    Until a change is committed, others may still read the old rows, and it may be
    rolled back: so nothing is cached meanwhile, and the cache is cleared again at the
    end.
    """

    def __init__(self, model: type[Model], read: Callable[[], T]) -> None:
        self._model = model
        self._read = read
        self._entry: tuple[float, T] | None = None
        for signal in (post_save, post_delete):
            signal.connect(self._changed, sender=model)

    def get(self) -> T:
        """Return the cached value; seldom asks the database."""
        now, entry = time.monotonic(), self._entry
        if self._is_changing():
            return self._read()
        if entry is None or now - entry[0] >= conf.POLICY_TTL_S:
            entry = self._entry = (now, self._read())
        return entry[1]

    def forget(self) -> None:
        """Read the rows again when they are next needed."""
        self._entry = None

    def _changed(self, **_: Any) -> None:
        self.forget()
        transaction.on_commit(self.forget, using=router.db_for_write(self._model))

    def _is_changing(self) -> bool:
        """Return whether this thread's transaction has changed rows."""
        using = router.db_for_read(self._model)
        waiting = transaction.get_connection(using).run_on_commit
        return any(entry[1] == self.forget for entry in waiting)
