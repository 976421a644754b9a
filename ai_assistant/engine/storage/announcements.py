"""Send Django signals after the commit, in a thread, if anybody receives them."""

import logging
from functools import partial
from typing import Any

from django.db import transaction
from django.dispatch import Signal

from ai_assistant.engine.storage.units import beside
from ai_assistant.models.run import Run
from ai_assistant.request_context import at_depth
from ai_assistant.safety.site_code import value_or

logger = logging.getLogger("ai_assistant")


def announce(signal: Signal, sender: type, **values: Any) -> None:
    """Send `signal` once the transaction is committed, or now if there is none."""
    if signal.has_listeners(sender):
        transaction.on_commit(partial(announce_now, signal, sender, **values))


def announce_now(signal: Signal, sender: type, **values: Any) -> None:
    """Send `signal` from a thread. Any thread may call."""
    if signal.has_listeners(sender):
        beside(_send, signal, sender, values)


def _depth_of(values: dict[str, Any]) -> int:
    if not values.get("run_id"):
        return 0
    own = Run.objects.filter(pk=values["run_id"])
    return own.values_list("start_depth", flat=True).first() or 0


def _send(signal: Signal, sender: type, values: dict[str, Any]) -> None:
    # What a receiver starts stands below the run that it is told of. A database that
    # is busy now must not keep the signal from whom it is for.
    depth = value_or(0, lambda: _depth_of(values), "the depth of a run is not known")
    with at_depth(depth):
        answers = signal.send_robust(sender, **values)
    for receiver, answer in answers:
        if isinstance(answer, Exception):
            name = getattr(receiver, "__qualname__", receiver)
            logger.error("receiver %s of a signal failed", name, exc_info=answer)
