"""A draft with two sections, open in the browser of a superuser."""

import pytest
from django.urls import reverse

from project.questionnaires.models import Question, Questionnaire, QuestionType, Section

CHOICE_SCHEMA = {
    "type": "object",
    "properties": {"options": {"type": "array", "minItems": 2}},
    "required": ["options"],
}


@pytest.fixture
def types(db):
    return {
        "text": QuestionType.objects.create(
            slug="text", label="Text", default_config={"max_length": 200}
        ),
        "choice": QuestionType.objects.create(
            slug="choice",
            label="Choice",
            config_schema=CHOICE_SCHEMA,
            default_config={"options": ["Yes", "No"]},
            example_config={"options": ["Left", "Right"]},
        ),
    }


@pytest.fixture
def draft(types):
    """`Sleep`, with the sections Nights (3 questions), Days (1) and Notes (none)."""
    draft = Questionnaire.objects.create(title="Sleep", languages=["en", "de"])
    for title, names in (("Nights", "abc"), ("Days", "d"), ("Notes", "")):
        section = Section.objects.create(questionnaire=draft, title=title)
        for name in names:
            Question.objects.create(
                section=section,
                type=types["choice"],
                text=f"{name}?",
                name=name,
                config={"options": ["Yes", "No"]},
            )
    return draft


@pytest.fixture
def published(types):
    published = Questionnaire.objects.create(title="Food", status="published")
    section = Section.objects.create(questionnaire=published, title="Meals")
    Question.objects.create(section=section, type=types["text"], text="Which?")
    return published


@pytest.fixture
def sections(draft):
    return list(draft.sections.all())


@pytest.fixture
def question(sections):
    return sections[0].questions.get(name="b")


def page_of(row):
    name = f"admin:questionnaires_{row._meta.model_name}_change"
    return reverse(name, args=[row.pk])


@pytest.fixture
def designing(at, draft):
    """The context of a tool that is called on the page of the draft."""
    return at(page_of(draft))


@pytest.fixture
def order():
    """Return the names in a section, after a look at their positions."""

    def names(section):
        rows = list(section.questions.all())
        assert [row.position for row in rows] == list(range(len(rows)))
        return "".join(row.name or "-" for row in rows)

    return names


@pytest.fixture
def titles(draft):
    """Return the titles of the sections, after a look at their positions."""

    def read():
        rows = list(draft.sections.all())
        assert [row.position for row in rows] == list(range(len(rows)))
        return [row.title for row in rows]

    return read
