"""A trial: the call is executed, what it writes is recorded, and all is taken back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.cache import caches
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.db import transaction

from ai_assistant.changes.capture.databases import every_other, taken_back_with
from ai_assistant.changes.capture.recorder import Recorder, recording
from ai_assistant.engine.calls.attempt import Attempt, context_for, invoke, is_async
from ai_assistant.engine.calls.validation import check_valid
from ai_assistant.engine.calls.write_limit import WriteEnded, within_limit
from ai_assistant.tools.result import from_value
from ai_assistant.types import ToolDefinition, ToolResult


def check_can_be_tried_out(tool: ToolDefinition) -> None:
    """Raise TypeError if a rollback would not undo all that the tool does."""
    if tool.execution.external or tool.execution.background or is_async(tool.handler):
        raise TypeError(
            f"Tool {tool.name!r} cannot be tried out: it does not do all of its work "
            "in one transaction. Give it a preview of its own."
        )


def tried_out(attempt: Attempt) -> tuple[ToolResult, Recorder]:
    """Return the result of a call, and what it has written; none of it is left."""
    tool = attempt.tool
    check_can_be_tried_out(tool)
    context = context_for(attempt)
    if tool.execution.prepare is not None:
        context.prepared = invoke(attempt, tool.execution.prepare, context)
    try:
        with (
            transaction.atomic(),
            taken_back_with(every_other()) as take_back,
            unkept_caches(),
        ):
            with within_limit(tool.execution.write_timeout_s), recording() as recorder:
                value = invoke(attempt, tool.handler, context)
                result = from_value(attempt.call.name, value)
            if result.ok:
                check_valid(tool, context, recorder)
            take_back()
    except WriteEnded as error:
        raise error.told from error
    return result, recorder


MISSING = object()


class TrialCache(BaseCache):
    """What a trial puts into a cache of the site, and all that is there already."""

    def __init__(self, real: Any) -> None:
        super().__init__({})
        self.key_prefix, self.version = real.key_prefix, real.version
        self._real = real
        self._own: dict[str, Any] = {}  # MISSING: deleted

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)  # what a backend has beyond Django's methods

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """Return what the trial has put there, else what is in the cache."""
        own = self._own.get(self.make_key(key, version=version))
        if own is None:
            return self._real.get(key, default, version=version)
        return default if own is MISSING else own[0]

    def set(
        self,
        key: Any,
        value: Any,
        timeout: Any = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> None:
        """Keep a value for the trial alone."""
        self._own[self.make_key(key, version=version)] = (value,)

    def add(
        self,
        key: Any,
        value: Any,
        timeout: Any = DEFAULT_TIMEOUT,
        version: int | None = None,
    ) -> bool:
        """Keep a value if there is none."""
        if self.has_key(key, version=version):
            return False
        self.set(key, value, timeout, version)
        return True

    def touch(
        self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        """Return whether there is such a key; its time stays."""
        return self.has_key(key, version=version)

    def delete(self, key: Any, version: int | None = None) -> bool:
        """Let the trial see nothing under the key."""
        was_there = self.has_key(key, version=version)
        self._own[self.make_key(key, version=version)] = MISSING
        return was_there

    def clear(self) -> None:
        """Forget what the trial has put there; no more can be known by key."""
        self._own.clear()


@contextmanager
def unkept_caches() -> Iterator[None]:
    """
    Keep what is cached meanwhile out of the caches of the site.

    Packages cache rows as they save them. After a trial these were never saved.
    """
    real = {alias: caches[alias] for alias in caches.settings}
    for alias, cache in real.items():
        caches[alias] = TrialCache(cache)
    try:
        yield
    finally:
        for alias, cache in real.items():
            caches[alias] = cache
