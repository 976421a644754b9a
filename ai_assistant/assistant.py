"""The built-in tools, found like those of every app."""

from ai_assistant.engine import finding  # noqa: F401 - registered by being imported
from ai_assistant.tools import ask_user  # noqa: F401 - registered by being imported
from ai_assistant.tools.data import (  # noqa: F401 - likewise
    action,
    aggregate,
    bulk,
    change,
    create,
    delete,
    describe,
    history,
    read,
    related,
    search,
)
from ai_assistant.tools.page import highlight, navigate  # noqa: F401 - likewise
