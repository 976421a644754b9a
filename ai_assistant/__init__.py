"""
An agentic assistant on every page of the Django admin.

This module holds the public names. It imports no model, so that it can be
imported before Django is set up.
"""

from typing import TYPE_CHECKING, Any

from ai_assistant.changes.values import (
    Changes,
    FieldChange,
    ObjectChange,
    Related,
)
from ai_assistant.context.viewparts import AssistantMixin, assistant_view
from ai_assistant.decorators import api_operation, context, hook, register, tool
from ai_assistant.exceptions import Ask, ModelRetry, ToolFailed
from ai_assistant.modules.base import ContextModule
from ai_assistant.registry import registry
from ai_assistant.teaching import (
    agent,
    instructions,
    loop,
    prompt_command,
    suggestions,
)
from ai_assistant.types import (
    CommandAnswer,
    ContextItem,
    PageInfo,
    RunContext,
    Suggestion,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from django.db.models import Model

    from ai_assistant.engine.intake.starts import StartedRun
    from ai_assistant.models.conversation import Conversation
    from ai_assistant.types import Label

__all__ = [
    "Ask",
    "AssistantMixin",
    "Changes",
    "CommandAnswer",
    "ContextItem",
    "ContextModule",
    "FieldChange",
    "ModelRetry",
    "ObjectChange",
    "PageInfo",
    "Related",
    "RunContext",
    "Suggestion",
    "ToolFailed",
    "ToolResult",
    "agent",
    "api_operation",
    "assistant_view",
    "astart",
    "autodiscover",
    "context",
    "hook",
    "instructions",
    "loop",
    "prompt_command",
    "raw",
    "register",
    "registry",
    "start",
    "suggestions",
    "tool",
    "versions",
]

__version__ = "0.1.0"


def autodiscover() -> None:
    """Import `assistant.py` of every installed app, as the admin does `admin.py`."""
    from django.utils.module_loading import autodiscover_modules

    autodiscover_modules("assistant", register_to=registry)


def start(  # noqa: PLR0913 - who, what, where, and how it is kept apart
    *,
    user: Any,
    text: str,
    page: str | None = None,
    conversation: "Conversation | UUID | str | None" = None,
    key: str | None = None,
    profile: str = "default",
    agent: str | None = None,
    label: "Label" = "data",
    context_rounds: int | None = None,
    on_commit: bool = True,
) -> "StartedRun":
    """
    Start a run for `user`, from a view, a signal, a task or a command.

    Return its `run_id` and `conversation_id` at once. In a transaction it is stored
    after the commit; with `on_commit=False` as part of the transaction. A repeat of
    `key` starts nothing. `label` says whose words `text` is: "data", "site" or "user".
    It stays in the prompt for `context_rounds` messages of the user, or for ever.
    Each write waits for the approval of `user`. Raise Refused with a sentence.
    """
    from ai_assistant.engine import service

    wanted = service.StartRequest(
        user=user,
        text=text,
        page=page,
        conversation=conversation,
        key=key,
        profile=profile,
        agent=agent,
        label=label,
        context_rounds=context_rounds,
    )
    return service.start(wanted, on_commit=on_commit)


async def astart(  # noqa: PLR0913 - as `start`
    *,
    user: Any,
    text: str,
    page: str | None = None,
    conversation: "Conversation | UUID | str | None" = None,
    key: str | None = None,
    profile: str = "default",
    agent: str | None = None,
    label: "Label" = "data",
    context_rounds: int | None = None,
) -> "StartedRun":
    """Do as `start` does, for async code."""
    from ai_assistant.engine import service

    wanted = service.StartRequest(
        user=user,
        text=text,
        page=page,
        conversation=conversation,
        key=key,
        profile=profile,
        agent=agent,
        label=label,
        context_rounds=context_rounds,
    )
    return await service.astart(wanted)


def versions(objects: "Iterable[Model]") -> dict[str, str]:
    """Return the digests of the rows of these objects, for `Changes.versions`."""
    from ai_assistant.changes.capture import images

    return images.versions(objects)


def raw(field: Any, value: Any) -> Any:
    """Return what the column of a field holds for a value, for `FieldChange.raw`."""
    from ai_assistant.changes.capture import columns

    return columns.raw(field, value)
