"""Why calls wait. Each module of a kind registers it when it is imported."""

from ai_assistant.engine.interrupts import (
    approval,
    browser,
    question,
    task,
)
