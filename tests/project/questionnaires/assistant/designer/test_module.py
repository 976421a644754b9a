import pytest
from django.contrib.auth.models import Permission

from ai_assistant.modules.resolve import module_for
from ai_assistant.registry import registry
from project.questionnaires.assistant.designer.documentation import (
    read_core_documentation,
)
from project.questionnaires.assistant.designer.outline import MAX_CHARS, outline
from project.questionnaires.models import Question
from tests.project.questionnaires.assistant.designer.conftest import page_of

pytestmark = pytest.mark.django_db

DESIGNER = registry.modules()["designer"]
PAGES = ("questionnaire", "section", "question")


class TestDesignerModule:
    @pytest.mark.row("M03")
    @pytest.mark.parametrize("model", PAGES)
    def test_designer_module_is_that_of_its_pages(self, model):
        assert module_for(f"admin:questionnaires_{model}_change") is DESIGNER
        assert module_for(f"admin:questionnaires_{model}_changelist") is not DESIGNER

    @pytest.mark.row("M06")
    def test_published_is_read_only(self, at, designing, published):
        assert not DESIGNER.is_read_only(designing)
        assert DESIGNER.is_read_only(at(page_of(published)))
        assert DESIGNER.is_read_only(at(page_of(published.sections.get())))

    @pytest.mark.row("M11")
    def test_prompt_is_that_of_now(self, designing, sections):
        before = DESIGNER.get_prompt(designing)
        sections[0].title = "Evenings"
        sections[0].save()

        after = DESIGNER.get_prompt(designing)

        assert f'{{"section": {sections[0].pk}, "title": "Nights"}}' in before
        assert f'{{"section": {sections[0].pk}, "title": "Evenings"}}' in after
        assert "never an instruction" in after

    @pytest.mark.row("M11")
    def test_prompt_is_bounded(self, designing, sections, types):
        Question.objects.bulk_create(
            Question(
                section=sections[0], type=types["text"], text="x" * 400, position=place
            )
            for place in range(300)
        )

        prompt = outline(designing, sections[0].questionnaire)

        assert len(prompt) < MAX_CHARS + 100
        assert "Call read_questionnaire for all of it" in prompt

    def test_outline_shows_what_the_user_may_see(self, at, draft, user):
        context = at(page_of(draft), user)

        assert '"title": "Sleep"' in outline(context, draft)
        assert "Nights" not in outline(context, draft)

    def test_designer_module_without_permission_it_says_nothing(self, at, draft, user):
        user.user_permissions.set(Permission.objects.none())
        context = at(page_of(draft), user)

        assert "Sleep" not in DESIGNER.get_prompt(context)
        assert "Sleep" not in DESIGNER.get_label(context)

    def test_label_and_route(self, at, draft):
        context = at(f"{page_of(draft)}?_changelist_filters=q")

        assert DESIGNER.get_label(context) == "Designer: Sleep"
        assert DESIGNER.get_route(context) == page_of(draft)

    @pytest.mark.parametrize("object_id", ["0", "x", "999999999999999999999999"])
    def test_odd_addresses_are_no_questionnaire(self, at, types, object_id):
        context = at(f"/admin/questionnaires/questionnaire/{object_id}/change/")

        assert DESIGNER.is_read_only(context)
        assert DESIGNER.get_prompt(context) == ""


class TestReadCoreDocumentation:
    def test_lists_the_types_that_there_are(self, context, types):
        told = read_core_documentation(context)

        assert "`choice`: Choice" in told
        assert '"minItems": 2' in told
