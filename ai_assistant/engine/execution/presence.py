"""
Which processes execute runs: each says so in a row, now and then.

A process of a WSGI server has no event loop, so it executes nothing; whether another
one does, only the rows show.
"""

from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.db.models import Min
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.engine.storage.lease import is_gone
from ai_assistant.engine.storage.units import unit
from ai_assistant.models.clock import database_now
from ai_assistant.models.lock import ExecutorProcess
from ai_assistant.models.run import Run, RunState

LEASES = 3  # after which a process that has said nothing counts as gone
KEPT_S = 86_400.0


def say_every_s() -> float:
    """Return how often a process says that it executes runs."""
    return float(conf.get("LEASE_S"))


@unit
def say_present(owner: str) -> None:
    """Note that this process executes runs, and forget those of long ago."""
    now = database_now()
    in_memory = isinstance(get_channel_layer(), InMemoryChannelLayer)
    ExecutorProcess.objects.update_or_create(
        owner=owner, defaults={"in_memory": in_memory, "seen_at": now}
    )
    ExecutorProcess.objects.filter(seen_at__lt=now - KEPT_S).delete()


def present() -> list[ExecutorProcess]:
    """Return the processes that execute runs now."""
    since = database_now() - LEASES * say_every_s()
    rows = ExecutorProcess.objects.filter(seen_at__gt=since)
    return [row for row in rows if not is_gone(row.owner)]


def is_worked_on() -> bool:
    """Return whether a process works on what is queued now, this one or another."""
    return bool(present())


def is_left_alone() -> bool:
    """
    Return whether no process will work on a message that is sent now.

    Where `runworker` executes, messages wait for it: it may just be restarting.
    """
    return bool(conf.get("EXECUTOR") == "web") and not present()


def nothing_works() -> str:
    """Return that a message cannot be sent, in a sentence for the person."""
    return _(
        "Messages cannot be sent: no process of this site answers them. Whoever runs "
        "the site has to serve it with ASGI or start a worker."
    )


def count_apart() -> int:
    """Return how many processes execute runs without a layer between them."""
    return sum(row.in_memory for row in present())


def queued_for_s() -> float:
    """Return the age of the oldest queued run, while no process executes runs."""
    queued = Run.objects.filter(state=RunState.QUEUED)
    oldest = queued.aggregate(oldest=Min("created_at"))["oldest"]
    if oldest is None or present():
        return 0.0
    return max(0.0, database_now() - float(oldest.timestamp()))
