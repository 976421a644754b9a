"""The kinds of interrupts. Each module registers its kind when it is imported."""

from ai_assistant.engine.interrupts import approval, browser, question, task
