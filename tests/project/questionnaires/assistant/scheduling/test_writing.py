import pytest
from pydantic import ValidationError

from ai_assistant import ModelRetry, ToolFailed
from project.questionnaires.assistant.scheduling.config import ScheduleConfig
from project.questionnaires.assistant.scheduling.writing import (
    create_schedule,
    delete_schedule,
    update_schedule,
)
from project.questionnaires.models import Questionnaire, Schedule, Section

pytestmark = pytest.mark.row("M07")


def config(**fields):
    return ScheduleConfig.model_validate(fields)


class TestCreateSchedule:
    def test_create_schedule_for_sections_in_their_order(
        self, planning, ids, questionnaire
    ):
        told = create_schedule(
            planning, " Weekly ", ids[::-1], config(repeat_every_days=7)
        )

        made = Schedule.objects.get(pk=told["schedule_id"])
        assert (made.name, made.questionnaire) == ("Weekly", questionnaire)
        asked = made.schedule_sections.values_list("section", "position")
        assert list(asked) == [(ids[1], 0), (ids[0], 1)]
        questionnaire.refresh_from_db()
        assert questionnaire.revision == 2

    def test_all_sections_of_the_open_one(self, opened, questionnaire):
        told = create_schedule(opened, "Once", [])

        made = Schedule.objects.get(pk=told["schedule_id"])
        assert made.questionnaire == questionnaire
        assert not made.schedule_sections.exists()

    def test_create_schedule_needs_to_know_the_questionnaire(self, planning, ids):
        with pytest.raises(ModelRetry, match="not clear which questionnaire"):
            create_schedule(planning, "Once", [])

    def test_create_schedule_refuses_wrong_sections(self, planning, opened, ids):
        food = Questionnaire.objects.create(title="Food")
        foreign = Section.objects.create(questionnaire=food, title="Meals").pk

        for sections, said in (
            ([0], "Section 0 does not exist"),
            ([ids[0], ids[0]], "name one twice"),
            ([ids[0], foreign], "not all of one"),
        ):
            with pytest.raises(ModelRetry, match=said):
                create_schedule(planning, "Once", sections)
        with pytest.raises(ModelRetry, match="not all of one"):
            create_schedule(opened, "Once", [foreign])

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"anchor": "fixed_date"}, "anchor_date: Enter the date"),
            ({"anchor": "event"}, "anchor_event: Enter the name"),
            ({"repeat_count": 3}, "repeat_every_days: Enter how many"),
            ({"time_zone": "Mars/Base"}, "is not a time zone"),
            (
                {
                    "repeat_every_days": 7,
                    "repeat_count": 3,
                    "repeat_until": "2026-05-01",
                },
                "not both",
            ),
        ],
    )
    def test_create_schedule_refuses_what_does_not_fit(
        self, planning, ids, fields, said
    ):
        with pytest.raises(ModelRetry, match=said):
            create_schedule(planning, "Once", ids, config(**fields))

        assert not Schedule.objects.exists()

    @pytest.mark.parametrize(
        "fields", [{"repeat_every_days": 0}, {"window_after_h": -1}, {"every": 7}]
    )
    def test_configuration_is_bounded(self, fields):
        with pytest.raises(ValidationError):
            config(**fields)


class TestUpdateSchedule:
    def test_update_schedule_changes_only_what_is_given(self, planning, schedule, ids):
        schedule.schedule_sections.create(section_id=ids[0])

        update_schedule(planning, schedule.pk, config=config(window_after_h=24))

        schedule.refresh_from_db()
        assert (schedule.window_after_h, schedule.repeat_count) == (24, 3)
        assert schedule.schedule_sections.count() == 1

    def test_null_empties_and_empty_means_all(self, planning, schedule, ids):
        schedule.schedule_sections.create(section_id=ids[0])

        update_schedule(
            planning, schedule.pk, sections=[], config=config(repeat_count=None)
        )

        schedule.refresh_from_db()
        assert schedule.repeat_count is None
        assert not schedule.schedule_sections.exists()

    def test_another_anchor_empties_what_the_old_one_needed(self, planning, schedule):
        update_schedule(
            planning, schedule.pk, config=config(anchor="event", anchor_event="birth")
        )
        update_schedule(planning, schedule.pk, config=config(anchor="enrolment"))

        schedule.refresh_from_db()
        assert (schedule.anchor, schedule.anchor_event) == ("enrolment", "")

    def test_archived_is_refused(self, planning, schedule, questionnaire):
        questionnaire.status = "archived"
        questionnaire.save()

        with pytest.raises(ToolFailed, match="'Sleep' is archived"):
            update_schedule(planning, schedule.pk, name="Other")
        with pytest.raises(ToolFailed, match="'Sleep' is archived"):
            delete_schedule(planning, schedule.pk)


class TestDeleteSchedule:
    def test_delete_schedule_deletes(self, planning, schedule):
        told = delete_schedule(planning, schedule.pk)

        assert told["deleted"]["name"] == "Diary"
        assert not Schedule.objects.exists()
