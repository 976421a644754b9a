"""Make tools of a site's existing code, each opted in by name."""

from ai_assistant.tools.adapters.admin_actions import from_admin_action
from ai_assistant.tools.adapters.drf import from_viewset
from ai_assistant.tools.adapters.functions import from_function, from_mcp, from_openai

__all__ = [
    "from_admin_action",
    "from_function",
    "from_mcp",
    "from_openai",
    "from_viewset",
]
