import datetime

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction

from project.questionnaires.models import (
    Question,
    Questionnaire,
    QuestionType,
    Schedule,
    Section,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def questionnaire():
    return Questionnaire.objects.create(title="Sleep")


@pytest.fixture
def section(questionnaire):
    return Section.objects.create(questionnaire=questionnaire, title="Nights")


@pytest.fixture
def text_type():
    return QuestionType.objects.create(slug="text", label="Text")


class TestQuestionnaire:
    def test_saving_what_was_read_before_sets_no_revision_back(self, questionnaire):
        opened = Questionnaire.objects.get(pk=questionnaire.pk)
        questionnaire.bump_revision()

        opened.title = "Sleep, again"
        opened.save()

        opened.refresh_from_db()
        assert (opened.title, opened.revision) == ("Sleep, again", 2)

    @pytest.mark.parametrize(
        "languages", ["en", ["EN"], ["en", "en"], [1], {"en": 1}, ["en", "english"]]
    )
    def test_questionnaire_refuses_wrong_languages(self, languages):
        with pytest.raises(ValidationError) as caught:
            Questionnaire(title="Sleep", languages=languages).full_clean()

        assert "languages" in caught.value.message_dict

    def test_default_language_is_one_of_them(self):
        with pytest.raises(ValidationError, match="Choose one of the languages"):
            Questionnaire(title="Sleep", languages=["de"]).full_clean()

    def test_questionnaire_bumps_its_revision(self, questionnaire):
        other = Questionnaire.objects.get(pk=questionnaire.pk)

        questionnaire.bump_revision()
        other.bump_revision()

        assert (questionnaire.revision, other.revision) == (2, 3)


class TestSection:
    def test_section_goes_last_without_a_position(self, questionnaire, section):
        second = Section.objects.create(questionnaire=questionnaire, title="Days")

        assert (section.position, second.position) == (0, 1)

    def test_section_refuses_a_taken_position(self, questionnaire, section):
        twin = Section(questionnaire=questionnaire, title="Days", position=0)

        with pytest.raises(ValidationError, match="has this position"):
            twin.full_clean()

    def test_database_checks_positions_at_commit(self, questionnaire, section):
        if not connection.features.supports_deferrable_unique_constraints:
            pytest.skip("SQLite has no deferred unique constraints.")
        Section.objects.create(questionnaire=questionnaire, title="Days", position=0)

        with pytest.raises(IntegrityError):
            connection.check_constraints()


class TestQuestion:
    def test_name_is_unique_in_the_questionnaire(
        self, questionnaire, section, text_type
    ):
        other = Section.objects.create(questionnaire=questionnaire, title="Days")
        Question.objects.create(section=section, type=text_type, text="?", name="q")
        twin = Question(section=other, type=text_type, text="?", name="q")

        with pytest.raises(ValidationError, match="has this name"):
            twin.full_clean()

    def test_empty_names_may_repeat(self, section, text_type):
        Question.objects.create(section=section, type=text_type, text="One?")

        Question(section=section, type=text_type, text="Two?").full_clean()

    @pytest.mark.parametrize("name", ["Q1", "1q", "a-b", "a b", "q\n"])
    def test_question_refuses_a_wrong_name(self, section, text_type, name):
        question = Question(section=section, type=text_type, text="?", name=name)

        with pytest.raises(ValidationError, match="Enter lower-case letters"):
            question.full_clean()

    def test_configuration_is_an_object(self, section, text_type):
        question = Question(section=section, type=text_type, text="?", config=[1])

        with pytest.raises(ValidationError, match="Enter a JSON object"):
            question.full_clean()


class TestSchedule:
    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"anchor": "fixed_date"}, "Enter the date of the anchor."),
            ({"anchor": "event"}, "Enter the name of the event."),
            ({"repeat_count": 3}, "Enter how many days lie in between."),
            ({"repeat_every_days": 0}, "greater than or equal to 1"),
            ({"time_zone": "Berlin"}, "“Berlin” is not a time zone."),
        ],
    )
    def test_schedule_refuses_what_does_not_fit(self, questionnaire, fields, message):
        schedule = Schedule(questionnaire=questionnaire, name="S", **fields)

        with pytest.raises(ValidationError, match=message):
            schedule.full_clean()

    def test_schedule_ends_one_way_only(self, questionnaire):
        with pytest.raises(IntegrityError), transaction.atomic():
            Schedule.objects.create(
                questionnaire=questionnaire,
                name="S",
                repeat_every_days=7,
                repeat_count=3,
                repeat_until=datetime.date(2026, 1, 1),
            )
