"""What runs are about, in a line: the question, the answer that ends it, and objects."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.utils.text import capfirst

from ai_assistant.changes.values import model_of_label
from ai_assistant.models.conversation import Message
from ai_assistant.render.html.conversation_list import without_signs
from ai_assistant.safety.policy.sensitive import is_sensitive_model
from ai_assistant.text.hidden_characters import mark_hidden_characters

CHARS = 120


def questions_of(run_ids: Collection[UUID], *, length: int = CHARS) -> dict[UUID, str]:
    """Return what was asked in runs, as it was typed; one query."""
    asked = _messages(run_ids, Message.Role.USER)
    found: dict[UUID, str] = {}
    for message in asked.order_by("position"):
        found.setdefault(message.run_id, brief(message.typed, length=length))
    return found


def answers_of(run_ids: Collection[UUID], *, length: int = CHARS) -> dict[UUID, str]:
    """Return the last that the assistant said in runs; one query."""
    said = _messages(run_ids, Message.Role.ASSISTANT)
    found: dict[UUID, str] = {}
    for message in said.order_by("-position"):
        if text := message.text:
            line = brief(without_signs(text), length=length)
            found.setdefault(message.run_id, line)
    return found


def brief(text: str, *, length: int = CHARS) -> str:
    """Return the begin of a text on one line, with hidden characters marked."""
    line = " ".join(text.split())
    cut = line if len(line) <= length else f"{line[:length].rstrip()} …"
    return mark_hidden_characters(cut)


def object_words(label: str, key: str, text: str) -> str:
    """Return the kind and the name of a changed object; of a secret table its key."""
    model = model_of_label(label)
    kind = capfirst(model._meta.verbose_name) if model else label
    is_secret = model is not None and is_sensitive_model(model)
    return f"{kind}: {key if is_secret or not text else brief(text, length=60)}"


def _messages(run_ids: Collection[UUID], role: str) -> Any:
    rows = Message.objects.filter(run__in=set(run_ids), role=role)
    return rows.only("run_id", "position", "parts")
