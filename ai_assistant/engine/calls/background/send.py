"""Give a background call to somebody: a thread of this process, or Celery."""

import logging
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from uuid import UUID

from django.conf import settings
from django.db.models import Min

from ai_assistant import conf
from ai_assistant.engine.calls.background.perform import perform
from ai_assistant.engine.storage.lease import database_now
from ai_assistant.engine.storage.units import in_db, unit, with_connections
from ai_assistant.models.call import BackgroundCall, CallStatus
from ai_assistant.models.clock import free
from ai_assistant.models.interrupt import Interrupt

logger = logging.getLogger("ai_assistant")

TASK = "ai_assistant.perform_call"  # of ai_assistant.tasks

_queued: set[UUID] = set()  # for a thread of this process, and not begun


def uses_celery() -> bool:
    """Return whether background calls go to Celery: if asked to, or a broker is set."""
    wanted = conf.get("BACKGROUND")
    if wanted == "auto":
        broker = getattr(settings, "CELERY_BROKER_URL", "")
        return bool(broker) and find_spec("celery") is not None
    return bool(wanted == "celery")


async def send_call(call_id: UUID) -> None:
    """
    Give the call to a worker, unless that was done a moment ago.

    The message is only a hint: a lost one is sent again by the sweeper, and one
    that comes twice finds the call taken.
    """
    if await in_db(is_due, call_id):
        await in_db(give_out, call_id)


def give_out(call_id: UUID) -> None:
    """Hand the call to Celery or to the pool. Never raises: the sweeper repeats."""
    if call_id in _queued:
        return
    _queued.add(call_id)
    if uses_celery():
        # A broker that is away may take seconds to say so.
        _post().submit(_send_message, call_id)
    else:
        _pool().submit(_perform, call_id)


def resend_after_s() -> float:
    """Seconds after which a call that no process has taken is sent again."""
    return conf.resend_s() if uses_celery() else conf.sweep_s()


@unit
def is_due(call_id: UUID) -> bool:
    """Return whether the call is to be given out now; it is not due for others then."""
    now = database_now()
    due = BackgroundCall.objects.filter(pk=call_id, sent_at__lt=now - resend_after_s())
    return bool(free(due).update(sent_at=now))


def untaken_s() -> float:
    """Return for how long the oldest call has waited that no worker has taken."""
    waiting = Interrupt.objects.filter(
        status=Interrupt.Status.OPEN,
        call__background=True,
        call__status=CallStatus.PENDING,
    )
    waiting = waiting.exclude(call__asks=True, call__approved=False)
    oldest = waiting.aggregate(oldest=Min("created_at"))["oldest"]
    if oldest is None:
        return 0.0
    return max(0.0, database_now() - float(oldest.timestamp()))


@cache
def _pool() -> ThreadPoolExecutor:
    threads = int(conf.get("LIMITS", "BACKGROUND_THREADS"))
    return ThreadPoolExecutor(max_workers=threads, thread_name_prefix="aia-task")


@cache
def _post() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="aia-post")


def _send_message(call_id: UUID) -> None:
    from celery import current_app  # noqa: PLC0415 - Celery is optional

    _queued.discard(call_id)
    try:
        current_app.send_task(TASK, (str(call_id),), retry=False)
    except Exception as error:  # noqa: BLE001 - any broker, any failure
        logger.warning("the broker took no message for call %s: %s", call_id, error)


def _perform(call_id: UUID) -> None:
    _queued.discard(call_id)
    try:
        with_connections(perform, call_id)
    except Exception:
        logger.exception("background call %s failed", call_id)
