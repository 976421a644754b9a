"""
Makes the demo data from `catalogue.json`.

Every choice comes from one seed and every uuid from a name, so that each machine
gets the same rows under the same ids.
"""

import datetime
import json
import random
import uuid
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.db import transaction

from project.questionnaires.demo.design import design
from project.questionnaires.models import (
    Question,
    Questionnaire,
    QuestionType,
    Schedule,
    Section,
)

SEED = 20250301
NAMESPACE = uuid.UUID("7a1f7f0c-6f0e-4c43-9d0a-5b7c2f6a9e11")
STATUSES = ("published", "draft", "published", "draft", "archived", "published")
LANGUAGES = (["en"], ["en", "de"], ["en", "de", "fr"], ["en", "pt-BR"])
CATALOGUE = Path(__file__).parent / "catalogue.json"


class Plan(NamedTuple):
    """What the catalogue says about one questionnaire."""

    title: str
    description: str
    section_titles: list[str]
    questions: dict[str, list[list[Any]]]  # by the title of their section
    schedules: list[dict[str, Any]]


def build() -> dict[str, int]:
    """Create the rows unless any of them is there; return how many, by model."""
    catalogue = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    plans = [
        Plan(title, description, sections, domain["sections"], domain["schedules"])
        for domain in catalogue["domains"].values()
        for title, description, sections in domain["titles"]
    ]
    ours = [_uuid("questionnaire", plan.title) for plan in plans]
    if Questionnaire.objects.filter(uuid__in=ours).exists():
        return {}
    with transaction.atomic():
        types = _types(catalogue["types"])
        questionnaires = _questionnaires(plans)
        sections = _sections(questionnaires, plans)
        return {
            "questionnaires": len(questionnaires),
            "sections": len(sections),
            "questions": _questions(sections, types),
            "schedules": _schedules(questionnaires, plans),
            **design(questionnaires),
        }


def _uuid(*names: object) -> uuid.UUID:
    return uuid.uuid5(NAMESPACE, "/".join(str(name) for name in names))


def _types(rows: list[dict[str, Any]]) -> dict[str, QuestionType]:
    for row in rows:
        QuestionType.objects.get_or_create(
            slug=row["slug"],
            defaults={
                "label": row["label"],
                "config_schema": row["schema"],
                "default_config": row["default"],
                "example_config": row["example"],
            },
        )
    return QuestionType.objects.in_bulk(field_name="slug")


def _questionnaires(plans: list[Plan]) -> list[Questionnaire]:
    owner = get_user_model().objects.filter(is_superuser=True).order_by("pk").first()
    return Questionnaire.objects.bulk_create(
        Questionnaire(
            uuid=_uuid("questionnaire", plan.title),
            title=plan.title,
            description=plan.description,
            status=STATUSES[number % len(STATUSES)],
            languages=list(LANGUAGES[number % len(LANGUAGES)]),
            revision=1 + number % 5,
            owner=owner,
        )
        for number, plan in enumerate(plans)
    )


def _sections(
    questionnaires: list[Questionnaire], plans: list[Plan]
) -> list[tuple[Section, list[list[Any]]]]:
    """Return the new sections, each with the questions that it may hold."""
    made = [
        (
            Section(
                uuid=_uuid("section", questionnaire.uuid, title),
                questionnaire=questionnaire,
                title=title,
                position=_with_gaps(place, number),
            ),
            plan.questions[title],
        )
        for number, (questionnaire, plan) in enumerate(
            zip(questionnaires, plans, strict=True)
        )
        for place, title in enumerate(plan.section_titles)
    ]
    Section.objects.bulk_create(section for section, _ in made)
    return made


def _with_gaps(place: int, number: int) -> int:
    """Leave holes, as deleting does, in one of three: there is work to recompute."""
    return place * 2 if number % 3 == 1 else place


def _questions(
    sections: list[tuple[Section, list[list[Any]]]], types: dict[str, QuestionType]
) -> int:
    chance = random.Random(SEED)  # noqa: S311 - repeatable, not secret
    made = []
    for number, (section, available) in enumerate(sections):
        count = 3 if number % 9 == 8 else 4
        chosen = sorted(chance.sample(range(len(available)), count))
        for place, index in enumerate(chosen):
            name, slug, text, *options = available[index]
            config = dict(types[slug].default_config)
            if options:
                config["options"] = options[0]
            made.append(
                Question(
                    uuid=_uuid("question", section.uuid, name),
                    section=section,
                    type=types[slug],
                    name=name,
                    text=text,
                    config=config,
                    position=_with_gaps(place, number),
                )
            )
    return len(Question.objects.bulk_create(made))


def _schedules(questionnaires: list[Questionnaire], plans: list[Plan]) -> int:
    made = []
    for number, questionnaire in enumerate(questionnaires):
        available = plans[number].schedules
        for row in available[: 1 + number % 2] if number % 4 else available[-1:]:
            fields = dict(row)
            for name in ("anchor_date", "repeat_until"):
                if name in fields:
                    fields[name] = datetime.date.fromisoformat(fields[name])
            made.append(
                Schedule(
                    uuid=_uuid("schedule", questionnaire.uuid, row["name"]),
                    questionnaire=questionnaire,
                    active=questionnaire.status == Questionnaire.Status.PUBLISHED,
                    **fields,
                )
            )
    return len(Schedule.objects.bulk_create(made))
