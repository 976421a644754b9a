"""
A client of a site's assistant, for programs: `pip install 'ai-assistant[client]'`.

It needs no settings of Django, and knows nothing of the rest of this package.
"""

from ai_assistant.client.client import Assistant, AssistantProblem, NotInTime
from ai_assistant.client.values import (
    Call,
    Change,
    Conversation,
    Event,
    Events,
    Interrupt,
    Message,
    Option,
    Proposal,
    Question,
    Queued,
    Run,
)

__all__ = [
    "Assistant",
    "AssistantProblem",
    "Call",
    "Change",
    "Conversation",
    "Event",
    "Events",
    "Interrupt",
    "Message",
    "NotInTime",
    "Option",
    "Proposal",
    "Question",
    "Queued",
    "Run",
]
