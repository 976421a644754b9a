"""Whether what a chat needs is there now, part by part, as the start page tells it."""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ai_assistant import conf
from ai_assistant.changes.capture.files import place_of_old_files
from ai_assistant.engine.execution.executor import executor
from ai_assistant.engine.execution.presence import (
    count_apart,
    is_left_alone,
    present,
    queued_for_s,
)
from ai_assistant.engine.storage.disk_space import is_full
from ai_assistant.render.html.transcript.entries import Entry
from ai_assistant.render.html.transcript.footer import duration
from ai_assistant.safety.site_code import value_or

QUEUED_S = 10.0  # after which a message should have been taken
TIMEOUT_S = 1.0
LATE_SWEEPS = 5  # of which none has come to its end


Told = tuple[str, bool]  # a sentence, and whether all is well


def health_entries() -> list[Entry]:
    """Return each part with how it is, and whether that is bad."""
    return [_entry(label, look) for label, look in LOOKS.items()]


def _entry(label: Any, look: Callable[[], Told]) -> Entry:
    silent = (_("It does not answer."), False)
    text, is_well = value_or(silent, look, "%s: it does not answer", label)
    return {"label": label, "text": text, "is_bad": not is_well}


def _executor() -> Told:
    if (waits_s := queued_for_s()) > QUEUED_S:
        sentence = _("A message has waited for %(time)s, and no process executes runs.")
        return sentence % {"time": duration(waits_s)}, False
    if is_left_alone() and not executor().is_alive:
        return _("No process executes runs: the site is not served with ASGI."), False
    count = len(present())
    sentence = ngettext(
        "%(n)s process executes runs.", "%(n)s processes execute runs.", count
    )
    return sentence % {"n": count}, True


def _layer() -> Told:
    layer = get_channel_layer()
    if layer is None:
        return _("None is configured."), False
    async_to_sync(_echo)(layer)  # on the event loop of the server, if it has one
    if (count := count_apart()) > 1:
        sentence = _("%(n)s processes execute runs, and no layer connects them.")
        return sentence % {"n": count}, False
    return type(layer).__name__, True


async def _echo(layer: Any) -> None:
    channel = f"aia.health.{uuid.uuid4().hex}"
    async with asyncio.timeout(TIMEOUT_S):
        await layer.send(channel, {"type": "aia.health"})
        await layer.receive(channel)


def _sweeper() -> Told:
    if not executor().is_alive:
        return _("in another process"), True
    late_s = executor().unswept_s
    if late_s >= LATE_SWEEPS * conf.sweep_s() + TIMEOUT_S:
        sentence = _("Not finished for %(time)s: stalled runs are not taken up again.")
        return sentence % {"time": duration(late_s)}, False
    return _("%(time)s ago") % {"time": duration(late_s)}, True


def _storage() -> Told:
    if is_full():
        return _("The disk is full: nothing can be stored."), False
    if not value_or("", place_of_old_files):
        return _("Old files of changes cannot be kept: no undo restores them."), False
    return _("ready"), True


LOOKS: Mapping[Any, Callable[[], Told]] = {
    gettext_lazy("Executor"): _executor,
    gettext_lazy("Channel layer"): _layer,
    gettext_lazy("Sweeper"): _sweeper,
    gettext_lazy("Storage"): _storage,
}
