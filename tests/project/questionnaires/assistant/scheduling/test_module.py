import pytest

from ai_assistant.modules.resolve import module_for
from ai_assistant.registry import registry

pytestmark = pytest.mark.django_db

SCHEDULING = registry.modules()["scheduling"]


class TestSchedulingModule:
    @pytest.mark.row("M07")
    @pytest.mark.parametrize("view", ["changelist", "add", "change"])
    def test_scheduling_module_is_that_of_its_pages(self, view):
        assert module_for(f"admin:questionnaires_schedule_{view}") is SCHEDULING

    def test_history_keeps_its_own(self):
        module = module_for("admin:questionnaires_schedule_history")

        assert module.id == "admin-history"

    @pytest.mark.row("M11")
    def test_prompt_has_the_open_schedule(self, planning, opened, schedule):
        assert '"name": "Diary"' in SCHEDULING.get_prompt(opened)
        assert "Diary" not in SCHEDULING.get_prompt(planning)

    def test_prompt_shows_only_what_the_user_may_see(self, at, opened, user):
        assert "Diary" not in SCHEDULING.get_prompt(at(opened.page_path, user))

    def test_archived_is_read_only(self, planning, opened, questionnaire):
        assert not SCHEDULING.is_read_only(opened)
        questionnaire.status = "archived"
        questionnaire.save()

        assert SCHEDULING.is_read_only(opened)
        assert not SCHEDULING.is_read_only(planning)
