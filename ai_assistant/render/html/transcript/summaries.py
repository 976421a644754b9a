"""The dividers of a conversation: where its earlier part was summed up, and to what."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.utils.safestring import mark_safe

from ai_assistant.models.conversation import Conversation, Message
from ai_assistant.render.markdown import render

Entry = dict[str, Any]


def summaries_of(
    conversation: Conversation, runs: Iterable[UUID]
) -> dict[UUID, list[Entry]]:
    """
    Return what `summary.html` draws below each of these runs.

    Of a conversation without summaries no row is asked for.
    """
    if not conversation.summaries:
        return {}
    rows = Message.objects.filter(
        conversation=conversation, role=Message.Role.SUMMARY, run_id__in=list(runs)
    )
    drawn: dict[UUID, list[Entry]] = {}
    for row in rows.exclude(state=Message.State.UNDONE).order_by("position"):
        drawn.setdefault(row.run_id, []).append(summary_entry(row))
    return drawn


def runs_with_summaries(conversation: Conversation) -> list[UUID]:
    """Return the runs below which a summary stands, or has stood."""
    rows = Message.objects.filter(conversation=conversation, role=Message.Role.SUMMARY)
    return list(dict.fromkeys(rows.values_list("run_id", flat=True)))


def summary_entry(row: Message) -> Entry:
    """Return what `summary.html` draws."""
    return {
        "id": str(row.pk),
        "count": row.parts[0].get("count", 0),
        "failed": row.parts[0].get("failed", ""),
        "blocks": [
            mark_safe(html)  # noqa: S308 - escaped and allow-listed by render.markdown
            for html in render(row.text)
        ],
    }
