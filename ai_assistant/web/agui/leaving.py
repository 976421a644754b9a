"""When a client leaves its run: it stops, unless somebody else looks on."""

import asyncio
import logging
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.utils.translation import gettext as _

from ai_assistant.engine.finish import Ending
from ai_assistant.engine.service import stop
from ai_assistant.exceptions import Refused
from ai_assistant.models.run import UNFINISHED, RunState
from ai_assistant.types import UserKey
from ai_assistant.web.agui.conversations import find_conversation

logger = logging.getLogger("ai_assistant")

ANSWER_S = 0.3  # for those who look on to say so

_left: set[UUID] = set()  # runs whose client has left this process just now

# Work that outlives its request: the reference keeps it from being collected.
_leaving: set[asyncio.Task[None]] = set()


def leave(user_id: UserKey, run_id: UUID, group: str) -> None:
    """Stop the run soon, unless a panel or another stream shows it."""
    task = asyncio.get_running_loop().create_task(_leave(user_id, run_id, group))
    _leaving.add(task)
    task.add_done_callback(_leaving.discard)
    _left.add(run_id)
    task.add_done_callback(lambda _task: _left.discard(run_id))


def is_being_left(user: Any, thread: str) -> bool:  # noqa: ANN401 - the site's user model
    """Tell whether the run of a thread is about to end. Asks the database."""
    conversation = find_conversation(user, thread)
    if conversation is None:
        return False
    active = conversation.runs.filter(state__in=UNFINISHED).first()
    return active is None or active.is_stopping or active.pk in _left


async def _leave(user_id: UserKey, run_id: UUID, group: str) -> None:
    if await _is_watched(group):
        return
    ending = Ending(
        state=RunState.CANCELLED,
        code="client_left",
        text=_("Stopped: the program that asked has left."),
    )
    try:
        await stop(user_id, run_id, ending)
    except Refused:
        return  # it was deleted meanwhile


async def _is_watched(group: str) -> bool:
    """Ask all who look on, in every process, to say so."""
    layer: Any = get_channel_layer()
    try:
        async with asyncio.timeout(ANSWER_S):
            own = await layer.new_channel()
            await layer.group_send(group, {"type": "aia.roll_call", "reply": own})
            await layer.receive(own)
    except TimeoutError:
        return False
    except Exception as error:  # noqa: BLE001 - any layer, any failure
        logger.debug("channel layer failed: %s", error)
        return False
    return True
