"""What lies around the questions of the demo: languages, variables, actions."""

import json
from pathlib import Path
from typing import Any

from project.questionnaires.models import (
    ConfigOverride,
    Question,
    QuestionActionGroup,
    Questionnaire,
    QuestionTranslation,
    Schedule,
    ScheduleSection,
    ScoringVariable,
)

DESIGN = Path(__file__).parent / "design.json"
LANGUAGE = "de"


def design(questionnaires: list[Questionnaire]) -> dict[str, int]:
    """Create the rows for new questionnaires; return how many, by what they are."""
    plan = json.loads(DESIGN.read_text(encoding="utf-8"))
    questions = list(
        Question.objects.filter(
            section__questionnaire__in=questionnaires
        ).select_related("section__questionnaire")
    )
    return {
        "variables": _variables(questions, plan["variables"]),
        "groups of actions": _actions(questions, plan["actions"]),
        "translations": _translations(questions, plan["translations"]),
        "overrides": _overrides(questions, plan["overrides"]),
        "sections of schedules": _schedule_sections(questionnaires),
    }


def _variables(questions: list[Question], plan: dict[str, Any]) -> int:
    made = []
    for question in questions:
        if question.name not in plan:
            continue
        name, label, variable_type, default = plan[question.name]
        made.append(
            ScoringVariable(
                questionnaire=question.section.questionnaire,
                name=name,
                label=label,
                type=variable_type,
                default=default,
            )
        )
    return len(ScoringVariable.objects.bulk_create(made))


def _actions(questions: list[Question], plan: dict[str, Any]) -> int:
    return len(
        QuestionActionGroup.objects.bulk_create(
            QuestionActionGroup(question=question, **plan[question.name])
            for question in questions
            if question.name in plan
        )
    )


def _translations(questions: list[Question], plan: dict[str, str]) -> int:
    return len(
        QuestionTranslation.objects.bulk_create(
            QuestionTranslation(
                question=question, language=LANGUAGE, text=plan[question.name]
            )
            for question in questions
            if question.name in plan and _speaks(question)
        )
    )


def _overrides(questions: list[Question], plan: dict[str, Any]) -> int:
    return len(
        ConfigOverride.objects.bulk_create(
            ConfigOverride(
                question=question, language=LANGUAGE, config=plan[question.name]
            )
            for question in questions
            if question.name in plan and _speaks(question)
        )
    )


def _schedule_sections(questionnaires: list[Questionnaire]) -> int:
    """Let every second schedule ask the first two sections only."""
    made = []
    schedules = Schedule.objects.filter(questionnaire__in=questionnaires)
    for schedule in schedules.order_by("pk")[::2]:
        for place, section in enumerate(schedule.questionnaire.sections.all()[:2]):
            made.append(
                ScheduleSection(schedule=schedule, section=section, position=place)
            )
    return len(ScheduleSection.objects.bulk_create(made))


def _speaks(question: Question) -> bool:
    return LANGUAGE in question.section.questionnaire.languages
