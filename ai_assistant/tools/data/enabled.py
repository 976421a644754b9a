"""When the tools on rows are there at all."""

from ai_assistant import conf
from ai_assistant.tools.data.access import may_enter
from ai_assistant.types import RunContext


def are_enabled(context: RunContext) -> bool:
    """Tell whether the site has switched them on, and some admin lets the user in."""
    return bool(conf.get("DATA_TOOLS")) and may_enter(context)
