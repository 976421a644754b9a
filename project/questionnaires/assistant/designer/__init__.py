"""The designer: what the assistant may do on the pages of one questionnaire."""

from project.questionnaires.assistant.designer.module import DesignerModule

__all__ = ["DesignerModule"]
