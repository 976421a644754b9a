"""
Hooks of `transaction.on_commit()` that are registered in a request of a tool.

The transaction of a page ends within its middlewares: the hooks of its view see the
request, and the hook of a middleware is called at once. That of a tool ends long after
its request, or is rolled back.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections

from ai_assistant.safety.site_code import value_or

Hook = Callable[[], object]
Counts = dict[str, int]  # of the hooks that wait for a commit, by database


class HookOfView:
    """A hook of a view. It is called by `around`, which puts its request around it."""

    def __init__(self, hook: Hook, around: Callable[[Hook], object]) -> None:
        self._hook, self._around = hook, around
        # Django names a robust hook by it if it fails.
        self.__qualname__ = getattr(hook, "__qualname__", type(hook).__name__)

    def __call__(self) -> None:
        """Call the hook."""
        self._around(self._hook)

    def __eq__(self, other: object) -> bool:
        """Return whether it is this hook: some look for their own."""
        return bool(self._hook == other)

    def __hash__(self) -> int:
        return hash(self._hook)


class CommitHooks:
    """The hooks of one request: those of its view, and those of its middlewares."""

    def __init__(self) -> None:
        self._before = _counts()
        self._of_view: dict[str, tuple[int, int]] = {}  # from where to where they are

    @contextmanager
    def of_view(self, around: Callable[[Hook], object]) -> Iterator[None]:
        """Let what the block registers be called by `around`."""
        before = _counts()
        try:
            yield
        finally:
            for alias, waiting in _waiting():
                first = before.get(alias, 0)
                waiting[first:] = [
                    (savepoints, HookOfView(hook, around), is_robust)
                    for savepoints, hook, is_robust in waiting[first:]
                ]
                self._of_view[alias] = first, len(waiting)

    def call_others(self) -> None:
        """Call what was registered around the view: no transaction is there."""
        for alias, waiting in _waiting():
            before = self._before.get(alias, 0)
            first, last = self._of_view.get(alias, (before, before))
            others = [*waiting[before:first], *waiting[last:]]
            waiting[before:] = waiting[first:last]
            for _savepoints, hook, is_robust in others:
                if is_robust:
                    value_or(None, hook, "a hook of a middleware failed")
                else:
                    hook()


def _counts() -> Counts:
    return {alias: len(waiting) for alias, waiting in _waiting()}


def _waiting() -> Iterator[tuple[str, list[Any]]]:
    """Yield the hooks that wait for a commit, of each database with a connection."""
    for connection in connections.all(initialized_only=True):
        yield connection.alias, connection.run_on_commit
