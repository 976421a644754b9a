"""What the assistant may do with questionnaires, everywhere and on their pages."""

from project.questionnaires.assistant import (
    archiving,
    designer,
    positions,
    reading,
    scheduling,
    writing,
)

__all__ = ["archiving", "designer", "positions", "reading", "scheduling", "writing"]
