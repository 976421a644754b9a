"""Send Django signals after the commit, in a thread, if anybody receives them."""

import logging
from functools import partial
from typing import Any

from django.db import transaction
from django.dispatch import Signal

from ai_assistant.engine.storage.units import beside
from ai_assistant.models.run import Run
from ai_assistant.request_context import at_depth

logger = logging.getLogger("ai_assistant")


def announce(signal: Signal, sender: type, **values: Any) -> None:
    """Send `signal` once the transaction is committed, or now if there is none."""
    if signal.has_listeners(sender):
        transaction.on_commit(partial(announce_now, signal, sender, **values))


def announce_now(signal: Signal, sender: type, **values: Any) -> None:
    """Send `signal` from a thread. Any thread may call."""
    if signal.has_listeners(sender):
        beside(_send, signal, sender, values)


def _send(signal: Signal, sender: type, values: dict[str, Any]) -> None:
    # What a receiver starts stands below the run that it is told of.
    told = [values["run_id"]] if values.get("run_id") else []
    own = Run.objects.filter(pk__in=told)
    depth = own.values_list("start_depth", flat=True).first()
    with at_depth(depth or 0):
        answers = signal.send_robust(sender, **values)
    for receiver, answer in answers:
        if isinstance(answer, Exception):
            name = getattr(receiver, "__qualname__", receiver)
            logger.error("receiver %s of a signal failed", name, exc_info=answer)
