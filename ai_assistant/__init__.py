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
from ai_assistant.decorators import context, register, tool
from ai_assistant.exceptions import Ask, ModelRetry, ToolFailed
from ai_assistant.modules.base import ContextModule
from ai_assistant.registry import registry
from ai_assistant.types import ContextItem, PageInfo, RunContext, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import Model

__all__ = [
    "Ask",
    "AssistantMixin",
    "Changes",
    "ContextItem",
    "ContextModule",
    "FieldChange",
    "ModelRetry",
    "ObjectChange",
    "PageInfo",
    "Related",
    "RunContext",
    "ToolFailed",
    "ToolResult",
    "assistant_view",
    "autodiscover",
    "context",
    "raw",
    "register",
    "registry",
    "tool",
    "versions",
]

__version__ = "0.1.0"


def autodiscover() -> None:
    """Import `assistant.py` of every installed app, as the admin does `admin.py`."""
    from django.utils.module_loading import autodiscover_modules

    autodiscover_modules("assistant", register_to=registry)


def versions(objects: "Iterable[Model]") -> dict[str, str]:
    """Return the digests of the rows of these objects, for `Changes.versions`."""
    from ai_assistant.changes.capture import images

    return images.versions(objects)


def raw(field: Any, value: Any) -> Any:
    """Return what the column of a field holds for a value, for `FieldChange.raw`."""
    from ai_assistant.changes.capture import columns

    return columns.raw(field, value)
