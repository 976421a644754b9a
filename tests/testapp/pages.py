"""What the pages of groups tell, for the tests of chips and banners in a browser."""

import ai_assistant
from ai_assistant import RunContext


@ai_assistant.register
class GroupsModule(ai_assistant.ContextModule):
    """The pages of groups."""

    label = "Groups"
    matches = ("admin:auth_group_*",)


@ai_assistant.context("auth.group", title="House rules", auto=False)
def house_rules(context: RunContext) -> str:
    """What everybody in a group has agreed to."""
    return "No shoes indoors."


@ai_assistant.context("auth.group", title="Weather")
def weather(context: RunContext) -> str:
    """What the sky is like."""
    raise ConnectionError(context.page_path)
