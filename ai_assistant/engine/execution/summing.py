"""Have the earlier part of a conversation summed up: before a step, or at once."""

import logging
from datetime import timedelta
from uuid import UUID

from django.utils.translation import gettext as _

from ai_assistant.engine.accounting.summaries import (
    SummaryRequest,
    Summed,
    ask_for_summary,
    nothing_to_sum_up,
    store,
    summary_request,
    why_failed,
)
from ai_assistant.engine.calls.provenance import has_data
from ai_assistant.engine.lifecycle.writer import RunWriter
from ai_assistant.engine.queries import active_run, conversations, last_run
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.summaries import Stretch, store_summary, stretch_of
from ai_assistant.engine.storage.told import kept_whole
from ai_assistant.engine.storage.units import in_db, unit
from ai_assistant.events import Custom, Event
from ai_assistant.exceptions import Limited, ModelError, Refused
from ai_assistant.models.clock import Now
from ai_assistant.models.conversation import Message
from ai_assistant.models.run import Run
from ai_assistant.types import Label, UserKey

logger = logging.getLogger("ai_assistant")

MOST_A_MINUTE = 3  # summaries of a conversation that were asked for
SUMMING, SUMMED = "aia.summing", "aia.summed"


async def sum_up_before(run: Run, index: int, writer: RunWriter) -> None:
    """
    Have what does not fit any more summed up, before the model is asked for a step.

    If that fails the oldest messages are left out, and the conversation says so.
    """
    stretch = await in_db(stretch_of, run)
    if stretch is None:
        return
    await writer.commit(lambda: [Custom(name=SUMMING, value={})])
    made = await _made(run, index, stretch)

    def work() -> list[Event]:
        found = _stored(run, stretch, made)
        value = {"message_id": str(found.pk)} if found is not None else {}
        return [Custom(name=SUMMED, value=value)]

    await writer.commit(work)


async def sum_up_now(user_id: UserKey, conversation_id: UUID) -> Message:
    """
    Have a conversation summed up in which nothing is under way.

    Raise Refused: busy, often, nothing, or failed.
    """
    run, stretch = await in_db(_what_to_sum_up, user_id, conversation_id)
    made = await _made(run, await in_db(run.steps.count), stretch)
    found = await in_db(unit(_stored), run, stretch, made, stage=Stage.FOLLOW)
    if found is None:
        raise nothing_to_sum_up(kept_whole())
    if found.state == Message.State.FAILED:
        sentence = _("The conversation could not be summed up. %(why)s")
        raise Refused("failed", sentence % {"why": found.parts[0]["failed"]})
    return found


def _what_to_sum_up(user_id: UserKey, conversation_id: UUID) -> tuple[Run, Stretch]:
    conversation = conversations(user_id).filter(pk=conversation_id).first()
    if conversation is None:  # nothing was said in it yet
        raise nothing_to_sum_up(kept_whole())
    if active_run(conversation) is not None:
        raise Refused(
            "busy", _("An answer is under way. Wait for it or stop it, then sum up.")
        )
    made = Message.objects.filter(conversation=conversation, role=Message.Role.SUMMARY)
    # They may be undone and asked for again; the rate of messages does not count them.
    if (
        made.filter(created_at__gt=Now() - timedelta(minutes=1)).count()
        >= MOST_A_MINUTE
    ):
        raise Refused("often", _("This was summed up a moment ago. Wait a minute."))
    run = last_run(conversation)
    stretch = stretch_of(run) if run is not None else None
    if run is None or stretch is None:
        raise nothing_to_sum_up(kept_whole())
    return run, stretch


async def _made(
    run: Run, index: int, stretch: Stretch
) -> tuple[SummaryRequest, Summed] | str:
    """Return what the model has made of a stretch, or why it has made nothing."""
    try:
        wanted = await in_db(summary_request, run, index, stretch)
        return wanted, await ask_for_summary(wanted)
    except (ModelError, Limited, TimeoutError) as error:
        logger.info("run %s: no summary: %s", run.pk, str(error) or "too slow")
        return why_failed(error)
    except Exception:
        logger.exception("run %s: no summary", run.pk)
        return _("The model could not be asked.")


def _stored(
    run: Run, stretch: Stretch, made: tuple[SummaryRequest, Summed] | str
) -> Message | None:
    label: Label = "user"
    if stretch.label == "data" or has_data(run):
        label = "data"
    if isinstance(made, str):
        return store_summary(run, stretch, "", label=label, failed=made)
    return store(*made, label)
