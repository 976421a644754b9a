"""Execute the calls of one step, and suspend the run when they wait."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from itertools import groupby
from typing import Any

from django.db import DatabaseError
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.calls import background
from ai_assistant.engine.calls.attempt import (
    TIMEOUT,
    Attempt,
    Outcome,
    guarded,
    run_tool,
    stop_if_asked,
    timed_out,
)
from ai_assistant.engine.calls.hooked import (
    aanswered,
    answered,
    asks_after,
    kept_of,
)
from ai_assistant.engine.calls.preview import ask_again, propose, proposed
from ai_assistant.engine.calls.progress import REPORT_S, heard
from ai_assistant.engine.calls.recording import result_of
from ai_assistant.engine.calls.versions import (
    arguments_now,
    is_other_version,
    outdated,
    upgrade,
)
from ai_assistant.engine.calls.write_limit import WriteEnded
from ai_assistant.engine.calls.writes import (
    carry_out_write,
    checked_for_claim,
    made_ready,
)
from ai_assistant.engine.interrupts.base import kind_named, wait_state
from ai_assistant.engine.interrupts.browser import BROWSER
from ai_assistant.engine.interrupts.results import (
    call_moved,
    has_runnable,
    outcome_unknown,
    record_result,
    tool_of_call,
)
from ai_assistant.engine.lifecycle.commits import Closing, Work
from ai_assistant.engine.lifecycle.finish import finish, stopped
from ai_assistant.engine.lifecycle.hooks import Kept, RunHooks
from ai_assistant.engine.lifecycle.object_lock import let_go
from ai_assistant.engine.lifecycle.writer import RunWriter
from ai_assistant.engine.loop import CallOutcome
from ai_assistant.engine.storage.delegated import STEPPED, WAITS, tell_root
from ai_assistant.engine.storage.units import (
    in_db,
    in_tool_thread,
    in_write_thread,
    unit,
)
from ai_assistant.events import Custom, Event
from ai_assistant.exceptions import Ask, Differs, ToolFailed
from ai_assistant.hooks.running import Asks
from ai_assistant.models.call import OPEN_CALL, CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.models.run import WAITING_FOR_PERSON, Run
from ai_assistant.tools.result import from_exception
from ai_assistant.types import WRITING, RunContext, ToolDefinition, ToolResult


async def park(writer: RunWriter) -> bool:
    """Park the run in the state of what it waits for; False if it need not wait."""
    parked: list[bool] = []

    def work() -> list[Event]:
        facts = _park(writer)
        parked.append(bool(facts))
        return facts

    await writer.commit(work)
    return parked[-1]


def _park(writer: RunWriter) -> list[Event]:
    run_id = writer.hold.run_id
    state = wait_state(run_id)
    # An answer may have come while the other calls were executed.
    if state is None or has_runnable(run_id):
        return []
    run = Run.objects.select_related("stop_request").get(pk=run_id)
    if run.is_stopping:
        return finish(run_id, stopped(run), running_s=writer.running_s())
    let_go(run)
    run.state, run.owner = state, ""
    run.running_s += writer.running_s()
    run.save(update_fields=["state", "owner", "running_s"])
    if state in WAITING_FOR_PERSON:
        tell_root(run, WAITS)  # it was told of the interrupt, not yet of the state
    return [Custom(name="aia.waiting", value={"state": state})]


logger = logging.getLogger("ai_assistant")

PARALLEL_READS = 4
SHOWN_AFTER_S = 0.3  # only a call that lasts is shown as working


class DurableCalls:
    """The loop's way to the tools, for one stretch of a run."""

    def __init__(self, run: Run, writer: RunWriter, hooks: RunHooks) -> None:
        self.run_row = run
        self.writer = writer
        self.hooks = hooks
        self._side_by_side = asyncio.Semaphore(PARALLEL_READS)

    async def run(self, step_index: int) -> list[CallOutcome] | None:
        """Execute the open calls; None if the run was suspended to wait."""
        while True:
            stop_if_asked()
            calls = await in_db(_calls_of, self.run_row, step_index)
            waiting = [call for call in calls if call.status in OPEN_CALL]
            if not waiting:
                if self.run_row.root_id is not None:
                    await in_db(unit(tell_root), self.run_row, STEPPED)
                return [_outcome(call) for call in calls]
            runnable = [
                call
                for call in waiting
                if call.status != CallStatus.WAITING
                and (not call.background or call.needs_proposal)
            ]
            for call in waiting:
                is_ready = call.background and not call.needs_proposal
                if is_ready and call.status == CallStatus.PENDING:
                    await self._send(call)
            if runnable:
                await self._carry_out(runnable)
            elif await park(self.writer):
                return None

    async def _carry_out(self, calls: list[ToolCall]) -> None:
        for writes, group in groupby(calls, lambda call: call.effect in WRITING):
            if writes:
                for call in group:
                    await self._one(call)
            else:
                until = time.monotonic() + float(conf.get("TIMEOUTS", "READS_S"))
                async with asyncio.TaskGroup() as tasks:
                    for call in group:
                        tasks.create_task(self._read(call, until))

    async def _read(self, call: ToolCall, until: float) -> None:
        async with self._side_by_side:
            await self._one(call, until if call.effect == "read" else None)

    async def _one(self, call: ToolCall, until: float | None = None) -> None:
        tool = tool_of_call(self.run_row, call)
        if tool is None:
            gone = ToolFailed(_("This tool no longer exists."))
            return await self.writer.commit(
                lambda: record_result(call, from_exception(call.name, gone))
            )
        if is_other_version(call, tool):
            # It continues in the next round, if it does not wait by then.
            return await self._upgrade(call, tool)
        attempt = Attempt(
            run=self.run_row,
            call=call,
            tool=tool,
            scope=self.hooks.scope,
            until=until,
        )
        if attempt.is_late:
            return await self._record(attempt, timed_out(attempt))
        return await self._begin(attempt)

    async def _begin(self, attempt: Attempt) -> None:
        tool = attempt.tool
        if attempt.call.needs_proposal:
            found = await proposed(attempt)
            return await self.writer.commit(lambda: propose(attempt, found))
        if tool.execution.external:
            return await self._external(attempt)
        if tool.execution.browser:
            return await self._by_page(attempt)
        async with self._shown(attempt):
            return await self._here(attempt)

    async def _here(self, attempt: Attempt) -> None:
        if attempt.tool.effect in WRITING:
            return await self._write(attempt)
        return await self._record(attempt, await run_tool(attempt))

    @asynccontextmanager
    async def _shown(self, attempt: Attempt) -> AsyncGenerator[None, None]:
        """Show meanwhile that the call is being executed, and its reports."""
        shown = asyncio.create_task(self._show_working(attempt))
        try:
            yield
        finally:
            attempt.report.is_over = True
            shown.cancel()
            # Not awaited as such: that would swallow a stop that comes now.
            await asyncio.wait([shown])
            if not shown.cancelled() and (error := shown.exception()):
                logger.info(
                    "call %s was not shown as working: %s", attempt.call.pk, error
                )

    async def _by_page(self, attempt: Attempt) -> None:
        """Have the page carry the call out; the server says what it is to do."""
        call = attempt.call
        outcome = await run_tool(attempt)
        if isinstance(outcome, Ask) or not outcome.ok:
            await self._record(attempt, outcome)
            return
        wanted = outcome.data if isinstance(outcome.data, dict) else call.arguments
        request = {"name": call.name, "arguments": wanted}
        await self.writer.commit(
            lambda: [BROWSER.ask_page(call, attempt.tool, request)]
        )

    async def _send(self, call: ToolCall) -> None:
        tool = tool_of_call(self.run_row, call)
        if tool is not None and is_other_version(call, tool):
            await self._upgrade(call, tool)
        else:
            await background.send_call(call.pk)

    async def _upgrade(self, call: ToolCall, tool: ToolDefinition) -> None:
        told = await _arguments_now(Attempt(run=self.run_row, call=call, tool=tool))
        await self.writer.commit(lambda: upgrade(call, tool, told))

    async def _external(self, attempt: Attempt) -> None:
        call = attempt.call
        ready = await made_ready(attempt)
        if not isinstance(ready, RunContext):
            await self._record(attempt, ready)
            return
        begun: list[bool] = []

        def begin() -> Sequence[Event]:
            try:
                refused = guarded(call, lambda: checked_for_claim(attempt, ready))
            except Differs as differs:
                begun[:] = [False]
                return _record(attempt, differs)
            begun[:] = [isinstance(refused, ToolResult) and refused.ok]
            return _claim(call) if begun[0] else _record(attempt, refused)

        await self.writer.commit(begin)
        if begun[0]:
            async with self._shown(attempt):
                outcome = await aanswered(attempt, await run_tool(attempt))
            await self.writer.commit(lambda: _record_external(attempt, outcome))

    async def _write(self, attempt: Attempt) -> None:
        ready = await made_ready(attempt)
        if not isinstance(ready, RunContext):
            return await self._record(attempt, ready)

        def work() -> Sequence[Event]:
            own = replace(attempt, report=attempt.report.branch(), kept=Kept())
            outcome = carry_out_write(own, ready)
            return _record(own, answered(own, outcome, in_transaction=True))

        try:
            await self.writer.commit(work, runner=in_write_thread)
        except WriteEnded as error:
            # Not repeated: it would take as long again.
            await self._record(attempt, from_exception(attempt.call.name, error.told))
        except DatabaseError as error:
            # The commit itself was refused, by a deferred constraint for example.
            await self._record(attempt, result_of(attempt.call, error))

    async def _record(self, attempt: Attempt, outcome: Outcome) -> None:
        await self.writer.commit_asking(_recorded(attempt, outcome))

    async def _show_working(self, attempt: Attempt) -> None:
        call, report = attempt.call, attempt.report
        news = heard(report)
        with suppress(TimeoutError):
            async with asyncio.timeout(SHOWN_AFTER_S):
                await news.wait()
        while True:
            news.clear()
            await self.writer.commit(lambda: [*_claim(call), *report.store(call)])
            await asyncio.sleep(REPORT_S)
            await news.wait()


def _calls_of(run: Run, step_index: int) -> list[ToolCall]:
    # Those that the model asked for: what a tool calls is its own business.
    calls = ToolCall.objects.filter(run=run, step__index=step_index, parent=None)
    return list(calls.order_by("position"))


def _outcome(call: ToolCall) -> CallOutcome:
    failed = call.status not in (CallStatus.COMPLETE, CallStatus.CANCELLED)
    # Broken arguments are distinguished by their text.
    fingerprint = call.arguments_digest + call.arguments_text
    return CallOutcome(fingerprint=fingerprint, failed=failed)


def _claim(call: ToolCall) -> list[Event]:
    own = ToolCall.objects.filter(pk=call.pk, status=CallStatus.PENDING)
    status = CallStatus.EXECUTING
    changed = own.update(status=status, started_at=Now())
    return [call_moved(call, status)] if changed else []


def _recorded(attempt: Attempt, outcome: Outcome) -> Asks[list[Work | Closing]]:
    left = yield from asks_after(attempt, outcome)
    return [lambda: _record(attempt, left)]


def _record(attempt: Attempt, outcome: Outcome | Differs) -> Sequence[Event]:
    told = attempt.report.store(attempt.call)
    if isinstance(outcome, Ask):
        return [*told, *kind_named(outcome.interrupt).ask(attempt.call, outcome)]
    if isinstance(outcome, Differs):
        return [*told, *ask_again(attempt.call, outcome)]
    recorded = record_result(attempt.call, outcome)
    # Behind it: what they keep may be made of this very result.
    return [*told, *kept_of(attempt, outcome), *recorded]


def _record_external(attempt: Attempt, outcome: Outcome) -> Sequence[Event]:
    call = attempt.call
    if isinstance(outcome, ToolResult) and outcome.error_type == TIMEOUT:
        # It was given up, but what it had done by then is unknown.
        return record_result(call, outcome_unknown(call), status=CallStatus.UNKNOWN)
    return _record(attempt, outcome)


async def _arguments_now(attempt: Attempt) -> dict[str, Any] | ToolResult:
    """Let the tool bring the arguments of a call up to date, within its time."""
    try:
        async with asyncio.timeout(attempt.timeout_s):
            return await in_tool_thread(arguments_now, attempt.call, attempt.tool)
    except TimeoutError as error:
        return outdated(attempt.call, error)
