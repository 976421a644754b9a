"""The built-in tools, found like those of every app."""

from ai_assistant.engine.calls import finding  # noqa: F401 - registered by being imported
from ai_assistant.tools import ask_user  # noqa: F401 - registered by being imported
from ai_assistant.tools.data.reading import (  # noqa: F401 - likewise
    aggregate,
    describe,
    history,
    read,
    related,
    search,
)
from ai_assistant.tools.data.writing import (  # noqa: F401 - likewise
    action,
    bulk,
    change,
    create,
    delete,
)
from ai_assistant.tools.page import browser_tools, navigate  # noqa: F401 - likewise
