"""Scheduling: what the assistant may do on the pages of schedules."""

from project.questionnaires.assistant.scheduling.module import SchedulingModule

__all__ = ["SchedulingModule"]
