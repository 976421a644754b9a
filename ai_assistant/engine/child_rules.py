"""Which tools another one may call, and whether the site lets it just now."""

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from ai_assistant.exceptions import ToolFailed
from ai_assistant.registry import registry
from ai_assistant.safety.permissions import fresh_user
from ai_assistant.safety.policy import judge
from ai_assistant.safety.rate import rate_limit
from ai_assistant.tools.result import rate_limited
from ai_assistant.types import EFFECTS, WRITING, ToolDefinition, ToolResult

if TYPE_CHECKING:
    from ai_assistant.engine.attempt import Attempt

MAX_DEPTH = 3


def child_tool(parent: "Attempt", name: str) -> ToolDefinition:
    """Return the tool of that name. Raise ToolFailed if it is not for this parent."""
    tool = registry.tool(name)
    above = parent.tool.name
    if tool is None:
        raise ToolFailed(f"Tool {above!r} calls {name!r}, which is not registered.")
    if parent.call.depth >= MAX_DEPTH:
        raise ToolFailed(
            f"Tool {above!r} calls {name!r} too deeply: {MAX_DEPTH} calls may stand "
            "below each other."
        )
    if name in _names_above(parent):
        raise ToolFailed(f"Tool {above!r} calls {name!r}, which has called it.")
    if EFFECTS.index(tool.effect) > EFFECTS.index(parent.tool.effect):
        raise ToolFailed(
            f"Tool {above!r} has the effect {parent.tool.effect!r} and calls {name!r} "
            f"with {tool.effect!r}. Give it at least that effect."
        )
    if tool.background or tool.browser or (tool.external and not parent.tool.external):
        raise ToolFailed(
            f"Tool {above!r} calls {name!r}, which cannot be part of another call. "
            "Let the model call it."
        )
    return tool


def _names_above(attempt: "Attempt | None") -> set[str]:
    names = set()
    while attempt is not None:
        names.add(attempt.tool.name)
        attempt = attempt.above
    return names


def refusal(parent: "Attempt", tool: ToolDefinition) -> ToolResult | None:
    """Return why the site does not let it be a part of its parent, if so."""
    run = parent.run
    verdict = judge(tool, user=fresh_user(run.user_id), module=run.module)
    if verdict.decision == "deny":
        return ToolResult(
            ok=False,
            error=_("This site does not allow “%(name)s”.") % {"name": tool.name},
            error_type="policy",
        )
    if parent.is_proposal and not parent.is_trial and tool.effect in WRITING:
        return ToolResult(
            ok=False,
            error=_("“%(name)s” writes, and a preview must not.") % {"name": tool.name},
            error_type="policy",
        )
    # What is tried out shows what an approval would be for.
    is_covered = parent.call.approved or parent.is_trial
    if verdict.decision == "ask" and not is_covered:
        text = _(
            "“%(name)s” asks for an approval of its own, and “%(above)s” had none."
        )
        return ToolResult(
            ok=False,
            error=text % {"name": tool.name, "above": parent.tool.name},
            error_type="policy",
        )
    opens_at = rate_limit(parent.run.user_id, tool)
    return rate_limited(tool.name, opens_at) if opens_at else None
