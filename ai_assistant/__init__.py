"""
An agentic assistant on every page of the Django admin.

This module holds the public names. It imports no model, so that it can be
imported before Django is set up.
"""

from ai_assistant.context.viewparts import AssistantMixin, assistant_view
from ai_assistant.decorators import context, register, tool
from ai_assistant.exceptions import Ask, ModelRetry, ToolFailed
from ai_assistant.modules.base import ContextModule
from ai_assistant.registry import registry
from ai_assistant.types import ContextItem, PageInfo, RunContext, ToolResult

__all__ = [
    "Ask",
    "AssistantMixin",
    "ContextItem",
    "ContextModule",
    "ModelRetry",
    "PageInfo",
    "RunContext",
    "ToolFailed",
    "ToolResult",
    "assistant_view",
    "autodiscover",
    "context",
    "register",
    "registry",
    "tool",
]

__version__ = "0.1.0"


def autodiscover() -> None:
    """Import `assistant.py` of every installed app, as the admin does `admin.py`."""
    from django.utils.module_loading import autodiscover_modules

    autodiscover_modules("assistant", register_to=registry)
