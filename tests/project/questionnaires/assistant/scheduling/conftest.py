import pytest
from django.urls import reverse

from project.questionnaires.models import Question, Questionnaire, QuestionType, Section


@pytest.fixture
def questionnaire(db):
    """`Sleep`, published, with the sections Nights (one question) and Days (none)."""
    made = Questionnaire.objects.create(title="Sleep", status="published")
    nights = Section.objects.create(questionnaire=made, title="Nights")
    Section.objects.create(questionnaire=made, title="Days")
    text = QuestionType.objects.create(slug="text", label="Text")
    Question.objects.create(section=nights, type=text, text="Well?")
    return made


@pytest.fixture
def ids(questionnaire):
    return list(questionnaire.sections.values_list("pk", flat=True))


@pytest.fixture
def schedule(questionnaire):
    return questionnaire.schedules.create(
        name="Diary", repeat_every_days=7, repeat_count=3, window_after_h=48
    )


@pytest.fixture
def planning(at):
    """The context of a tool that is called on the list of schedules."""
    return at(reverse("admin:questionnaires_schedule_changelist"))


@pytest.fixture
def opened(at, schedule):
    """The same on the page of the schedule."""
    return at(reverse("admin:questionnaires_schedule_change", args=[schedule.pk]))
