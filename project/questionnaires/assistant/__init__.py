"""What the assistant may do with questionnaires, everywhere and on their pages."""

from project.questionnaires.assistant import (
    archiving,
    designer,
    hours,
    positions,
    reading,
    reporting,
    scheduling,
    writing,
)

__all__ = [
    "archiving",
    "designer",
    "hours",
    "positions",
    "reading",
    "reporting",
    "scheduling",
    "writing",
]
