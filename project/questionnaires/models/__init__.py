"""Questionnaires: sections, questions and what belongs to them, and schedules."""

from project.questionnaires.models.config_override import ConfigOverride
from project.questionnaires.models.question import Question
from project.questionnaires.models.question_action_group import QuestionActionGroup
from project.questionnaires.models.question_translation import QuestionTranslation
from project.questionnaires.models.question_type import QuestionType
from project.questionnaires.models.questionnaire import Questionnaire
from project.questionnaires.models.schedule import Schedule
from project.questionnaires.models.schedule_section import ScheduleSection
from project.questionnaires.models.scoring_variable import ScoringVariable
from project.questionnaires.models.section import Section

__all__ = [
    "ConfigOverride",
    "Question",
    "QuestionActionGroup",
    "QuestionTranslation",
    "QuestionType",
    "Questionnaire",
    "Schedule",
    "ScheduleSection",
    "ScoringVariable",
    "Section",
]
