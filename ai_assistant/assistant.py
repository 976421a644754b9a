"""The built-in tools, found like those of every app."""

from ai_assistant.engine import undo_tool
from ai_assistant.engine.calls import availability
from ai_assistant.tools import ask_user
from ai_assistant.tools.data.reading import aggregate, describe, read, related, search
from ai_assistant.tools.data.writing import action, bulk, change, delete
from ai_assistant.tools.page import browser_tools, navigate
