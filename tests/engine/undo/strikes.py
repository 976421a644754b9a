"""Kills of a process that undoes something: before or after a commit, or in between."""

import os
import signal
from dataclasses import dataclass
from typing import Any

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from ai_assistant.changes.undo.values import UndoTarget


@dataclass
class Strike:
    """Kills its process before or after a commit, or before a statement."""

    place: int
    where: str
    seen: int = 0

    def arm(self) -> None:
        if self.where == "statement":
            for each in connections.all():
                each.execute_wrappers.append(self._statement)
            return
        own, commit = self, BaseDatabaseWrapper._commit

        def struck(wrapper: Any) -> None:
            own.seen += 1
            is_it = own.seen == own.place
            if is_it and own.where == "before":
                die()
            commit(wrapper)
            if is_it:
                die()

        BaseDatabaseWrapper._commit = struck

    def _statement(self, execute, sql, params, many, context):
        self.seen += 1
        if self.seen == self.place:
            die()
        return execute(sql, params, many, context)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def strike(number: int, *, commits: int = 7, statements: int = 29) -> Strike:
    """
    Return another strike for each number: all commits, then statements in between.

    `commits`: how many there are; `statements`: how many lie between two strikes.
    """
    if number % 3 == 2:
        return Strike(place=statements * (number + 1), where="statement")
    return Strike(place=number % commits + 1, where=("before", "after")[number % 3])


def undo_in_a_child(scene, struck: Strike, target: UndoTarget | None = None) -> bool:
    """Undo in a process that is struck; return whether it was killed."""
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        try:
            digest = scene.plan(target).digest
            struck.arm()
            scene.undo(target, digest=digest)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)
