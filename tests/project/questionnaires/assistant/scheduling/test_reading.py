import datetime

import pytest

from ai_assistant import ModelRetry
from project.questionnaires.assistant.scheduling.checking import (
    validate_schedule_sections,
)
from project.questionnaires.assistant.scheduling.reading import (
    describe_schedule,
    get_schedule_details,
    get_schedules,
    preview_access_windows,
)
from project.questionnaires.models import Questionnaire, ScheduleSection, Section

pytestmark = pytest.mark.row("M07")


class TestGetSchedules:
    def test_all_or_those_of_the_open_one(self, planning, opened, schedule):
        other = Questionnaire.objects.create(title="Food")
        other.schedules.create(name="Once")

        assert get_schedules(planning)["total"] == 2
        assert [row["name"] for row in get_schedules(opened)["schedules"]] == ["Diary"]


class TestGetScheduleDetails:
    def test_get_schedule_details_tells_configuration_and_sections(
        self, planning, schedule, ids
    ):
        before = get_schedule_details(planning, schedule.pk)
        schedule.schedule_sections.create(section_id=ids[1])

        after = get_schedule_details(planning, schedule.pk)

        assert before["sections"] == "all sections of the questionnaire"
        assert after["sections"] == [{"id": ids[1], "title": "Days"}]
        assert after["config"]["repeat_every_days"] == 7

    def test_unknown_schedule_names_the_tool_to_call(self, planning, db):
        with pytest.raises(ModelRetry, match="Schedule 0 does not exist. Call get_"):
            get_schedule_details(planning, 0)


class TestPreviewAccessWindows:
    def test_preview_access_windows_counts_from_a_fixed_date(self, planning, schedule):
        schedule.anchor = "fixed_date"
        schedule.anchor_date = datetime.date(2026, 3, 1)
        schedule.save()

        told = preview_access_windows(planning, schedule.pk)

        assert (told["anchor_is_assumed"], told["total"]) == (False, 3)
        assert [one["opens"].day for one in told["windows"]] == [1, 8, 15]

    def test_preview_access_windows_says_that_a_day_is_assumed(
        self, planning, schedule
    ):
        schedule.repeat_count = None
        schedule.save()

        told = preview_access_windows(planning, schedule.pk)

        assert (told["anchor_is_assumed"], told["total"]) == (True, "without end")


class TestDescribeSchedule:
    def test_describe_schedule_in_words(self, planning, schedule):
        told = describe_schedule(planning, schedule.pk)

        assert "Asked every 7 days, 3 times in all." in told["words"]


class TestValidateScheduleSections:
    def problems(self, context, schedule):
        told = validate_schedule_sections(context, schedule.pk)
        assert told["ok"] is (not told["problems"])
        return " ".join(told["problems"])

    def test_fine(self, planning, schedule, ids):
        schedule.schedule_sections.create(section_id=ids[0])

        assert self.problems(planning, schedule) == ""

    def test_empty_section_also_if_all_are_asked(self, planning, schedule):
        said = self.problems(planning, schedule)

        assert "Section 'Days'" in said
        assert "has no questions" in said

    def test_foreign_section(self, planning, schedule):
        food = Questionnaire.objects.create(title="Food")
        foreign = Section.objects.create(questionnaire=food, title="Meals")
        ScheduleSection.objects.create(schedule=schedule, section=foreign)

        assert "is of another questionnaire" in self.problems(planning, schedule)

    def test_windows_that_overlap(self, planning, schedule):
        schedule.window_after_h = 200
        schedule.save()

        assert "still open when the next" in self.problems(planning, schedule)

    def test_active_for_a_draft(self, planning, schedule, questionnaire):
        questionnaire.status = "draft"
        questionnaire.save()

        assert "but its questionnaire is draft" in self.problems(planning, schedule)
