"""Watch the context providers and tools of a test, so that no failure is missed."""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from importlib import import_module
from queue import SimpleQueue
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import Q
from django.test import override_settings

from ai_assistant import conf
from ai_assistant.engine.delegation import AGENT_RUN
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.execution.sweep import give_out_calls
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.intake.values import SentPage, Submission
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.base import Answer, kind_named
from ai_assistant.engine.interrupts.browser import FromPage, finish_call
from ai_assistant.engine.interrupts.browser import claim_call as claim_request
from ai_assistant.engine.interrupts.task import TASK
from ai_assistant.engine.lifecycle.scope import RunScope, with_page
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import Hold, claim_lease, this_process
from ai_assistant.engine.storage.units import unit
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run, RunState
from ai_assistant.testing.page import check_ids
from ai_assistant.testing.recorded import (
    Played,
    PlayedCall,
    Recording,
    assert_script_is_used_up,
)
from ai_assistant.types import JSON

logger = logging.getLogger("ai_assistant")


class _ProviderLog(logging.Handler):
    """
    Records the first context provider that the log mentions.

    On a site it leaves a chip and that line, and the message is sent without it; a
    test would only miss some words of the prompt.
    """

    def __init__(self, recording: Recording) -> None:
        super().__init__(logging.WARNING)
        self._recording = recording

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if not message.startswith("context provider ") or self._recording.broken:
            return
        error = record.exc_info[1] if record.exc_info else None
        reason = f": {type(error).__name__}: {error}" if error else ""
        self._recording.broken = AssertionError(
            f"{message[0].upper()}{message[1:]}{reason}. On the site the message is sent "
            "without it."
        )
        self._recording.broken.__cause__ = error


@contextmanager
def watched_providers(recording: Recording) -> Iterator[None]:
    """Break the recording with the first context provider that fails inside."""
    log = _ProviderLog(recording)
    logger.addHandler(log)
    try:
        yield
    finally:
        logger.removeHandler(log)


@contextmanager
def watched_tools(recording: Recording) -> Iterator[None]:
    """Keep the first error that a tool raises by a fault of its own."""
    faults = import_module("ai_assistant.engine.calls.recording")
    tell = faults.tell

    def record_error(call: Any, error: BaseException) -> None:
        tell(call, error)
        recording.raised = recording.raised or error

    with patch.object(faults, "tell", record_error):
        yield


Job = Callable[[], None]

# Looked up by their paths: some packages have a function named like a module.
POOLS = {
    "ai_assistant.engine.storage.units": ("_pool", "_tools", "_writes"),
    "ai_assistant.engine.calls.editing": ("_forms",),
    "ai_assistant.engine.calls.preview": ("_previews",),
    "ai_assistant.configuration.parts": ("_functions",),
    "ai_assistant.context.collect": ("_providers",),
    "ai_assistant.hooks.running": ("_hooks",),
}


class CallersThread(Executor):
    """Runs work in the thread that made it; at once, if it is submitted there."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()

    def submit(  # type: ignore[override] # a pool's has the same, spelled out
        self, work: Callable[..., Any], *args: object, **kwargs: object
    ) -> Future[Any]:
        """Run `work` in the caller's thread."""
        future: Future[Any] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(work(*args, **kwargs))
            except BaseException as error:  # noqa: BLE001 - raised where it is awaited
                future.set_exception(error)

        if threading.get_ident() == self._thread:
            job()
        else:
            self._jobs.put(job)
        return future

    def run(self, coroutine: Coroutine[Any, Any, object]) -> None:
        """Run `coroutine` on a loop of its own, and work for it here meanwhile."""
        failed: list[BaseException] = []

        def drive() -> None:
            try:
                asyncio.run(coroutine)
            except BaseException as error:  # noqa: BLE001 - raised again below
                failed.append(error)
            finally:
                self._jobs.put(None)

        loop = threading.Thread(target=drive, name="aia-test-loop", daemon=True)
        loop.start()
        while (job := self._jobs.get()) is not None:
            job()
        loop.join()
        if failed:
            raise failed[0]


@contextmanager
def one_thread() -> Iterator[CallersThread]:
    """Replace the engine's thread pools by the caller's thread."""
    callers = CallersThread()
    with ExitStack() as stack:
        for path, names in POOLS.items():
            for name in names:
                stack.enter_context(patch.object(import_module(path), name, callers))
        yield callers


PROVIDER = "ai_assistant.testing.recorded.RecordedProvider"
QUIET_S = 3600.0  # a lease that outlasts every test: the run is never taken over
ROUNDS = 100  # of long tools and model calls; more means a test that never ends


def play(
    user: Any,
    recording: Recording,
    *,
    path: str,
    context: Mapping[str, JSON] | None = None,
    **options: Any,
) -> Played:
    """Send a message of `user`, and execute its run until it ends or waits."""
    page = SentPage(path=path, context=context or {})
    with _stage(recording) as stage:
        message = Submission(user_id=user.pk, key=uuid4().hex, page=page, **options)
        accepted = accept(message, owner=this_process())
        stage.execute(accepted.run_id, accepted.hold)
        check_ids(RunScope(Run.objects.get(pk=accepted.run_id), user))
    return _played(accepted.run_id, recording)


def answer_and_resume(
    played: Played, text: str, value: JSON, **decisions: Any
) -> Played:
    """Answer the first open interrupt of a run, and execute it further."""
    if not played.interrupts:
        raise AssertionError(
            f"Nothing waits for an answer: the run is {played.state!r}."
        )
    interrupt = played.interrupts[0]
    with _stage(played.recording) as stage:
        if kind_named(interrupt.kind).is_for_person:
            ids = {"user_id": interrupt.run.user_id, "nonce": interrupt.nonce}
            answer(Answer(interrupt_id=interrupt.pk, text=text, **ids, **decisions))
        else:
            _as_the_page(interrupt, text, value)
        stage.execute(played.run.pk, None)
    return _played(played.run.pk, played.recording)


def _as_the_page(interrupt: Interrupt, error: str, value: JSON) -> None:
    report = FromPage(
        user_id=interrupt.run.user_id,
        interrupt_id=interrupt.pk,
        nonce=interrupt.nonce,
        tab="test",
        value=value,
        code="failed" if error else "",
        error=error,
        path=interrupt.run.page_path,
    )
    claim_request(report)
    finish_call(with_page(report))


class _Stage:
    """The engine's executor, for one run."""

    def __init__(self, thread: CallersThread) -> None:
        self._thread = thread
        self._long: list[tuple[Callable[..., None], UUID]] = []

    def submit(self, perform: Callable[..., None], call_id: UUID) -> None:
        """Take a long tool, as the pool of long tools would."""
        self._long.append((perform, call_id))

    def execute(self, run_id: UUID, hold: Hold | None) -> None:
        """Execute the run, and its long tools, until a person is needed."""
        for _round in range(ROUNDS):
            hold = hold or _claimed(run_id)
            if hold is not None:
                self._thread.run(execute(hold, Flusher()))
                hold = None
            elif not self._perform_long():
                return
        raise AssertionError(
            f"Run {run_id} has not come to an end after {ROUNDS} rounds."
        )

    def _perform_long(self) -> bool:
        give_out_calls()
        waiting, self._long = self._long, []
        for perform, call_id in waiting:
            perform(call_id)
        return bool(waiting)


@contextmanager
def _stage(recording: Recording) -> Iterator[_Stage]:
    profile = {"PROVIDER": PROVIDER, "MODEL": "played", "RECORDING": recording}
    overrides = {
        "PROFILES": dict.fromkeys({*conf.profiles(), "default"}, profile),
        "BACKGROUND": "threads",
        "EXECUTOR": "web",
        "LEASE_S": QUIET_S,
    }
    options = conf.merged(getattr(settings, "AI_ASSISTANT", {}), overrides)
    layers = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    long_tools = import_module("ai_assistant.engine.calls.background.send")
    with (
        override_settings(AI_ASSISTANT=options, CHANNEL_LAYERS=layers),
        one_thread() as thread,
        watched_providers(recording),
        watched_tools(recording),
    ):
        stage = _Stage(thread)
        pool = patch.object(long_tools, "_pool", lambda: stage)
        with pool, patch.object(conf, "MODEL_RETRY_S", 0.001):
            yield stage
    if recording.broken is not None:
        raise recording.broken
    if recording.raises and recording.raised is not None:
        raise recording.raised


@unit
def _claimed(run_id: UUID) -> Hold | None:
    """Claim a run, or that of an agent that it has asked, if it is queued."""
    of_it = Q(pk=run_id) | Q(root=run_id)
    queued = Run.objects.filter(of_it, state=RunState.QUEUED).order_by("created_at")
    found = queued.values_list("pk", flat=True).first()
    return None if found is None else claim_lease(found, this_process())


def _played(run_id: UUID, recording: Recording) -> Played:
    run = Run.objects.get(pk=run_id)
    messages = list(run.messages.order_by("position"))
    texts = [
        message.text
        for message in messages
        if message.role == "assistant" and message.text
    ]
    calls = run.calls.select_related("step").order_by("step__index", "position")
    waits = Interrupt.objects.filter(Q(run=run) | Q(run__root=run))
    waits = waits.filter(status=Interrupt.Status.OPEN).select_related("run", "call")
    played = Played(
        run=run,
        state=run.state,
        text="\n\n".join(texts),
        messages=tuple((message.role, message.text) for message in messages),
        calls=tuple(map(_call, calls)),
        interrupts=tuple(waits.exclude(kind__in=(TASK.name, AGENT_RUN.name))),
        recording=recording,
        error=" ".join(filter(None, [run.error_text, run.error_detail])),
    )
    if played.state == RunState.SUCCEEDED:
        assert_script_is_used_up(played)
    return played


def _call(call: ToolCall) -> PlayedCall:
    result = call.result or {}
    return PlayedCall(
        name=call.name,
        arguments=call.arguments,
        status=call.status,
        data=result.get("data"),
        error=result.get("error", ""),
        error_type=result.get("error_type", ""),
        read_by_model=call.result_text,
    )
