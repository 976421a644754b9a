"""When the tools on rows are there at all."""

from typing import Any

from ai_assistant import conf
from ai_assistant.tools.data.access import may_enter
from ai_assistant.tools.data.sites import warn_once, why_closed
from ai_assistant.types import RunContext


def are_enabled(context: RunContext) -> bool:
    """Tell whether the site has switched them on, and some admin lets the user in."""
    for why in why_missing(context.user):
        warn_once(why)
    return bool(conf.get("DATA_TOOLS")) and may_enter(context)


def why_missing(user: Any) -> list[str]:  # noqa: ANN401 - the site's user model
    """Return why tools on rows are missing that the user should have."""
    return why_closed(user) if conf.get("DATA_TOOLS") else []
