"""The list of a person's conversations, and which of them go on or wait."""

from typing import Any
from uuid import UUID

from django.urls import reverse

from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import UNFINISHED, Run, RunState

LISTED = 50  # conversations
FOR_PERSON = (RunState.WAITING_APPROVAL, RunState.WAITING_ANSWER)


def listed(user: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - the site's user model
    """
    Return the own conversations for the list, the newest first.

    `busy` is "wait" where a run waits for the person, "run" where one is at work.
    """
    rows = list(Conversation.objects.filter(owner_id=user.pk)[:LISTED])
    full, busy = reverse("ai_assistant:full"), _busy([row.pk for row in rows])
    return [
        {
            "id": str(row.pk),
            "title": row.title,
            "time": row.updated_at,
            "url": f"{full}?conversation={row.pk}",
            "busy": busy.get(row.pk, ""),
        }
        for row in rows
    ]


def _busy(conversations: list[UUID]) -> dict[UUID, str]:
    runs = Run.objects.filter(conversation__in=conversations, state__in=UNFINISHED)
    return {
        conversation: "wait" if state in FOR_PERSON else "run"
        for conversation, state in runs.values_list("conversation_id", "state")
    }
