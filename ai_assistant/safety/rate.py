"""How often one user may call a tool: the stored calls are the count."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models.call import CallStatus, ToolCall
from ai_assistant.models.clock import Now
from ai_assistant.types import ToolDefinition, UserKey

RATE = re.compile(r"([1-9]\d{0,6})/([smhd])")
SECONDS: Mapping[str, int] = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def parsed_rate(tool: ToolDefinition) -> tuple[int, timedelta]:
    """Return how many calls in what time. Raise if the rate is not like "10/m"."""
    found = RATE.fullmatch(tool.rate)
    if found is None:
        raise ImproperlyConfiguredAssistant(
            f"Tool {tool.name!r} has the rate {tool.rate!r}. Give calls by second, "
            "minute, hour or day: '10/m'."
        )
    return int(found[1]), timedelta(seconds=SECONDS[found[2]])


def rate_limit(user_id: UserKey, tool: ToolDefinition) -> datetime | None:
    """
    Return when `user_id` may call the tool again; None if that is now.

    What was refused does not count. Asks the database once, and only for a tool
    with a rate. The call in question must not be stored yet.
    """
    if not tool.rate:
        return None
    most, window = parsed_rate(tool)
    calls = ToolCall.objects.filter(
        run__user_id=user_id, name=tool.name, created_at__gt=Now() - window
    ).exclude(status=CallStatus.DENIED)
    # The one that has to leave the window before there is room again.
    oldest = calls.order_by("-created_at").values_list("created_at", flat=True)
    counted = list(oldest[most - 1 : most])
    return counted[0] + window if counted else None
