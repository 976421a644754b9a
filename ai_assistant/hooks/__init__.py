"""Code of the site that watches a run, or changes it, at named points."""

from ai_assistant.hooks.points import (
    AnswerGiven,
    AnswerGrown,
    ModelCall,
    ModelReplied,
    NextRound,
    PromptDraft,
    Refuse,
    RequireApproval,
    RunEnded,
    StatusChanged,
    ToolAnswered,
    ToolRequested,
    UserMessage,
)

__all__ = [
    "AnswerGiven",
    "AnswerGrown",
    "ModelCall",
    "ModelReplied",
    "NextRound",
    "PromptDraft",
    "Refuse",
    "RequireApproval",
    "RunEnded",
    "StatusChanged",
    "ToolAnswered",
    "ToolRequested",
    "UserMessage",
]
