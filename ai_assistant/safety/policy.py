"""Whether a tool runs, asks first, or is refused."""

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.types import Decision, ToolDefinition

DECISIONS: tuple[Decision, ...] = ("allow", "ask", "deny")


def decide(tool: ToolDefinition) -> Decision:
    """
    Return what the site wants for `tool`.

    The site's AI_ASSISTANT['POLICY'] goes before the tool's own wish, and that
    before the default: read and ui run, write and destructive ask. Destructive
    always asks unless it is denied.
    """
    wished = conf.get("POLICY").get(tool.name, tool.policy)
    if wished is not None and wished not in DECISIONS:
        raise ImproperlyConfiguredAssistant(
            f"AI_ASSISTANT['POLICY'][{tool.name!r}] is {wished!r}. "
            "Use 'allow', 'ask' or 'deny'."
        )
    if wished == "deny":
        return "deny"
    if tool.effect == "destructive":
        return "ask"
    if wished is not None:
        return wished  # type: ignore[no-any-return] # checked above
    return "ask" if tool.effect == "write" else "allow"
