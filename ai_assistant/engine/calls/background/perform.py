"""Work on one background call, from its claim to its result."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection, connections

from ai_assistant import conf
from ai_assistant.changes.capture.recorder import Recorder
from ai_assistant.engine.calls.attempt import (
    Attempt,
    Outcome,
    carried_out,
    context_for,
    guarded,
)
from ai_assistant.engine.calls.background.claim import (
    CallHold,
    Holding,
    claim_task,
    pass_call_fence,
    renew_behind_piece,
    renew_claim,
)
from ai_assistant.engine.calls.hooked import answered, kept_of
from ai_assistant.engine.calls.preview import ask_again
from ai_assistant.engine.calls.progress import Report
from ai_assistant.engine.calls.recording import kept_changes, result_of
from ai_assistant.engine.calls.validation import check_valid
from ai_assistant.engine.calls.versions import arguments_now, is_other_version, upgrade
from ai_assistant.engine.calls.writes import rechecked
from ai_assistant.engine.interrupts.base import kind_named, settle_wait
from ai_assistant.engine.interrupts.results import record_result
from ai_assistant.engine.interrupts.task import TASK
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.eventlog import append_by_state
from ai_assistant.engine.storage.units import (
    enter_unit,
    limits_for_tool,
    lost_when_away,
    read_again,
    retry_when_locked,
    set_local,
    unit,
    with_connections,
)
from ai_assistant.events import Event
from ai_assistant.exceptions import Ask, Differs, LostLease
from ai_assistant.models.call import BackgroundCall, ToolCall
from ai_assistant.models.run import SESSION, Run
from ai_assistant.registry import registry
from ai_assistant.request_context import at_depth
from ai_assistant.safety.identity.session import AccessRevoked
from ai_assistant.text.redaction.redact import redact
from ai_assistant.types import JSON, RunContext, ToolResult

logger = logging.getLogger("ai_assistant")

PROGRESS_S = 0.5  # between two reports that are stored


def perform(call_id: UUID) -> UUID | None:
    """
    Execute a background call, unless another process does; return its run's id.

    Blocks until the call is done. None if there was nothing to do.
    """
    hold = retry_when_locked(lambda: claim_task(call_id))
    if hold is None:
        return None
    work = _Work(hold)
    above = at_depth(work.run.start_depth)
    with work.heartbeat(), above, work.run.as_sent():
        try:
            outcome = work.outcome()
            if work.lost.is_set():
                return None  # though the tool has gone on
            retry_when_locked(lambda: work.finish(outcome))
        except LostLease:
            return None
    work.ring()
    return hold.run_id


class _Work:
    """One attempt at a background call."""

    def __init__(self, hold: CallHold) -> None:
        self.hold = hold
        calls = ToolCall.objects.select_related("background_call")
        self.call = calls.get(pk=hold.call_id)
        self.run = Run.objects.select_related("conversation").get(pk=hold.run_id)
        self.group = notifications.group_name(
            self.run.user_id, self.run.conversation_id
        )
        self.attempt: Attempt | None = None
        self.lost = threading.Event()
        self.holding = Holding(self.call)
        self.report = Report()
        self.report.news = self.told
        self.told_at = 0.0
        self.waiting = threading.Event()  # a report is not stored yet
        self.storing = threading.Lock()
        self.ring()

    def outcome(self) -> Outcome | Differs:
        tool = registry.tools().get(self.call.name)
        if tool is None:
            gone = LookupError(f"There is no tool {self.call.name!r} in this process.")
            return result_of(self.call, gone)
        attempt = Attempt(run=self.run, call=self.call, tool=tool, report=self.report)
        self.attempt = attempt

        def work() -> object:
            with lost_when_away():
                context = read_again(lambda: context_for(attempt))
                self.holding.check_begin()
            context.actions = replace(
                context.actions, transaction=lambda mark: self.piece(attempt, mark)
            )
            return carried_out(attempt, context)

        try:
            outcome = guarded(self.call, work)
        except AccessRevoked as error:
            return ToolResult(ok=False, error=str(error), error_type=error.code)
        except Differs as differs:
            return self.holding.ended_by(differs)
        # The tool may have continued as if nothing had been rolled back.
        taken_back = self.holding.differs
        if taken_back is not None:
            return self.holding.ended_by(taken_back)
        return answered(attempt, outcome)

    @contextmanager
    def piece(self, attempt: Attempt, mark: JSON) -> Iterator[None]:
        """Run one transaction of the tool: lease, permission, writes, resume mark."""

        def begin(ready: RunContext) -> None:
            if self.lost.is_set():
                raise LostLease(f"Call {self.call.pk} was stopped.")
            pass_call_fence(self.hold)
            # A sign-out may close the session, an answer may bring another one.
            self.run.refresh_from_db(fields=SESSION)
            rechecked(attempt, ready)
            self.holding.check_begin()
            set_local(limits_for_tool(float(conf.get("TIMEOUTS", "PIECE_S"))))

        def check(recorder: Recorder) -> None:
            self.holding.check(recorder)
            check_valid(attempt.tool, ready, recorder)

        try:
            with ExitStack() as stack:
                stack.enter_context(lost_when_away())
                # Code of the site: no lock is held yet.
                ready = read_again(lambda: context_for(attempt))
                enter_unit(stack, lambda: begin(ready))
                with kept_changes(self.run, self.call, ready.user, check):
                    yield
                if mark is not None:
                    BackgroundCall.objects.filter(pk=self.call.pk).update(mark=mark)
                renew_behind_piece(self.hold)
        except BaseException as error:
            if isinstance(error, LostLease):
                self.lost.set()
            self.holding.forget()
            raise
        self.holding.keep()

    def told(self) -> None:
        """Store what the tool reports, now or a little later. In the tool's thread."""
        if self.lost.is_set():
            raise LostLease(f"Call {self.call.pk} was stopped.")
        is_early = time.monotonic() - self.told_at < PROGRESS_S
        # Not waited for: whoever stores now may wait for the tool's transaction.
        if is_early or not self.storing.acquire(blocking=False):
            self.waiting.set()
            return
        try:
            self.store()
        finally:
            self.storing.release()
        self.ring()

    def store(self) -> None:
        """Store the report. Raise LostLease if the call is no longer held."""
        self.waiting.clear()
        self.told_at = time.monotonic()
        try:
            _store_report(self.hold, self.call, self.report)
        except DatabaseError as error:
            if connection.in_atomic_block:
                raise  # of a piece of the tool, which is lost with it
            logger.info("progress of %s was not stored: %s", self.call.pk, error)

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Keep the lease while the tool is quiet, and store its last report."""
        done = threading.Event()

        thread = threading.Thread(
            target=self._beat, args=(done,), name="aia-heartbeat", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            done.set()
            self.waiting.set()
            thread.join()

    def _beat(self, done: threading.Event) -> None:
        try:
            while not done.is_set():
                has_news = self.waiting.wait(conf.heartbeat_s())
                if has_news and done.wait(self.told_at + PROGRESS_S - time.monotonic()):
                    return  # its result is stored with all that
                with suppress(DatabaseError, InterfaceError):
                    with_connections(self._store_late if has_news else self._renew)
        except LostLease:
            self.lost.set()
        finally:
            connections.close_all()  # of this thread

    def _store_late(self) -> None:
        with self.storing:
            if self.waiting.is_set():
                self.store()
        self.ring()

    def _renew(self) -> None:
        renew_claim(self.hold)

    def finish(self, outcome: Outcome | Differs) -> None:
        if isinstance(outcome, ToolResult):
            outcome = self.holding.told(outcome)
        call, tool = self.call, registry.tool(self.call.name)
        told = None
        if call.approved and tool is not None and is_other_version(call, tool):
            told = arguments_now(call, tool)
        _finish(self, outcome, told)

    def ring(self) -> None:
        notifications.ring_from_thread(self.group, self.run.pk)


@unit
def _store_report(hold: CallHold, call: ToolCall, report: Report) -> None:
    pass_call_fence(hold)
    facts = report.store(call)
    append_by_state(hold.run_id, facts)


@unit
def _finish(
    work: _Work,
    outcome: Outcome | Differs,
    upgraded: dict[str, Any] | ToolResult | None,
) -> None:
    hold, call, report = work.hold, work.call, work.report
    pass_call_fence(hold)
    facts: list[Event] = [*report.store(call), *TASK.end(call)]
    tool = registry.tool(call.name)
    if call.approved and tool is not None and is_other_version(call, tool):
        # Nothing was done: another tool was approved.
        facts += upgrade(call, tool, upgraded)
    elif isinstance(outcome, Differs):
        facts += ask_again(call, outcome)
    elif isinstance(outcome, Ask):
        facts += kind_named(outcome.interrupt).ask(call, outcome)
    else:
        recorded = record_result(call, outcome)
        if work.attempt is not None:  # what it keeps may be made of this very result
            facts += kept_of(work.attempt, outcome)
        facts += recorded
        if outcome.ok and outcome.error:
            # The card shows it to the person, who has approved more than was done.
            ToolCall.objects.filter(pk=call.pk).update(error=redact(outcome.error))
    settle_wait(hold.run_id)
    append_by_state(hold.run_id, facts)
