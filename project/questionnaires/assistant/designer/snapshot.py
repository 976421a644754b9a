"""The whole of a questionnaire, as it is now, and as it was."""

import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.utils.translation import ngettext

from project.questionnaires.models import (
    ConfigOverride,
    Question,
    QuestionActionGroup,
    Questionnaire,
    QuestionTranslation,
    ScoringVariable,
    Section,
)

OWN = ("title", "description", "languages", "default_language")
# What belongs to a questionnaire, and by which lookup; parents first.
PARTS: dict[type[Model], str] = {
    ScoringVariable: "questionnaire",
    Section: "questionnaire",
    Question: "section__questionnaire",
    QuestionTranslation: "question__section__questionnaire",
    ConfigOverride: "question__section__questionnaire",
    QuestionActionGroup: "question__section__questionnaire",
}
TREE = (Section, Question)


def taken(questionnaire: Questionnaire) -> dict[str, Any]:
    """Return the questionnaire with its parts, as JSON; without its revision."""
    found: dict[str, Any] = {
        "own": {name: getattr(questionnaire, name) for name in OWN}
    }
    for model, lookup in PARTS.items():
        rows = model._default_manager.filter(**{lookup: questionnaire})
        found[model.__name__] = list(rows.order_by("pk").values())
    return dict(json.loads(json.dumps(found, cls=DjangoJSONEncoder)))


def put_back(questionnaire: Questionnaire, snapshot: dict[str, Any]) -> None:
    """Make the questionnaire what it was; that counts as a revision."""
    for model in TREE:  # first: what was moved must not go with its new section
        _put_rows(model, questionnaire, snapshot)
    for model, lookup in reversed(PARTS.items()):
        kept = [row["id"] for row in snapshot[model.__name__]]
        rows = model._default_manager.filter(**{lookup: questionnaire})
        rows.exclude(pk__in=kept).delete()
    for model in PARTS:
        _put_rows(model, questionnaire, snapshot)
    for name in OWN:
        setattr(questionnaire, name, snapshot["own"][name])
    questionnaire.save(update_fields=OWN)
    questionnaire.bump_revision()


def _put_rows(
    model: type[Model], questionnaire: Questionnaire, snapshot: dict[str, Any]
) -> None:
    wanted = snapshot[model.__name__]
    there = {row["id"]: row for row in taken(questionnaire)[model.__name__]}
    fields = {field.attname: field for field in model._meta.concrete_fields}
    missing, other = [], []
    for row in wanted:
        if row != there.get(row["id"]):
            values = {name: fields[name].to_python(row[name]) for name in fields}
            (other if row["id"] in there else missing).append(model(**values))
    model._default_manager.bulk_create(missing)
    if other:
        names = [field.name for field in fields.values() if not field.primary_key]
        model._default_manager.bulk_update(other, names)


def described(snapshot: dict[str, Any]) -> str:
    """Return how many sections and questions there were."""
    sections, questions = len(snapshot["Section"]), len(snapshot["Question"])
    said = (
        ngettext("%(count)d section", "%(count)d sections", sections)
        % {"count": sections},
        ngettext("%(count)d question", "%(count)d questions", questions)
        % {"count": questions},
    )
    return ", ".join(said)
