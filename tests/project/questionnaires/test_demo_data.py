from io import StringIO

import pytest
from django.core.management import call_command

from project.discover.models import LogLine
from project.questionnaires.configuration import configuration_error
from project.questionnaires.flow import action_error, condition_error, known_in
from project.questionnaires.models import (
    ConfigOverride,
    Question,
    QuestionActionGroup,
    Questionnaire,
    QuestionTranslation,
    QuestionType,
    Schedule,
    ScheduleSection,
    ScoringVariable,
    Section,
)
from project.wiki.models import Page

MODELS = (Questionnaire, Section, QuestionType, Question, Schedule)
AROUND = (
    ConfigOverride,
    QuestionActionGroup,
    QuestionTranslation,
    ScheduleSection,
    ScoringVariable,
    Page,
    LogLine,
)


def load():
    out = StringIO()
    call_command("demo_data", stdout=out)
    return out.getvalue()


@pytest.mark.django_db
class TestDemoData:
    def test_loads_all_rows(self):
        said = load()

        assert [model.objects.count() for model in MODELS] == [24, 90, 10, 350, 36]
        assert "24 questionnaires, 90 sections, 350 questions, 36 schedules" in said

    def test_second_run_changes_nothing(self):
        load()
        section = Section.objects.order_by("pk")[0]
        section.title = "Renamed by hand"
        section.save()

        said = load()

        assert [model.objects.count() for model in MODELS] == [24, 90, 10, 350, 36]
        assert Section.objects.filter(title="Renamed by hand").count() == 1
        assert said == "The demo data is there already: nothing was changed.\n"

    def test_demo_data_is_the_same_every_time(self):
        fields = ("uuid", "section__uuid", "text", "name", "position")
        load()
        first = list(Question.objects.order_by("uuid").values_list(*fields))
        Questionnaire.objects.all().delete()

        load()

        assert list(Question.objects.order_by("uuid").values_list(*fields)) == first

    @pytest.mark.broad
    def test_every_row_is_valid(self):
        load()

        for model in (*MODELS, *AROUND[:-1]):
            for row in model.objects.all():
                row.full_clean()

    def test_loads_what_lies_around(self):
        load()

        assert all(model.objects.exists() for model in AROUND)
        assert LogLine.objects.count() == 600

    def test_configurations_and_actions_fit(self):
        load()

        for question in Question.objects.select_related("type"):
            assert configuration_error(question.config, question.type) == ""
        for override in ConfigOverride.objects.select_related("question__type"):
            assert configuration_error(override.config, override.question.type) == ""
        for group in QuestionActionGroup.objects.all():
            known = known_in(group.question.section.questionnaire)
            assert condition_error(group.condition, known) == ""
            assert [action_error(one, known) for one in group.actions] == [""]

    def test_demo_data_holds_each_status(self):
        load()

        found = set(Questionnaire.objects.values_list("status", flat=True))
        assert found == {"draft", "published", "archived"}

    def test_superuser_owns_the_questionnaires(self, superuser):
        load()

        assert set(Questionnaire.objects.values_list("owner", flat=True)) == {
            superuser.pk
        }
