"""The built-in tools and commands, found like those of every app."""

from ai_assistant.configuration import skill_tool
from ai_assistant.engine import delegation, memory_tool, undo_tool
from ai_assistant.engine.calls import availability, read_result
from ai_assistant.engine.intake import built_in_commands
from ai_assistant.engine.loop import run_loop
from ai_assistant.teaching import loop
from ai_assistant.tools import ask_user, followups, plan
from ai_assistant.tools.api import call
from ai_assistant.tools.api import search as search_of_api
from ai_assistant.tools.data.reading import aggregate, describe, read, related, search
from ai_assistant.tools.data.writing import action, bulk, change, delete
from ai_assistant.tools.page import (
    fill_form,
    find_pages,
    navigate,
    page_action,
    page_state,
    tour,
)

loop("default")(run_loop)
