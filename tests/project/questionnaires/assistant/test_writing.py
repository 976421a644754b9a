from dataclasses import replace

import pytest

from ai_assistant import ModelRetry, ToolFailed
from project.questionnaires.assistant.writing import (
    delete_section,
    publish_questionnaire,
    rename_section,
)
from project.questionnaires.models import Question, Questionnaire, Section

pytestmark = pytest.mark.usefixtures("demo_data")


class TestRenameSection:
    def test_rename_section_renames_and_counts_a_revision(self, context):
        section = Section.objects.select_related("questionnaire")[0]
        before, revision = section.title, section.questionnaire.revision

        result = rename_section(context, section.pk, "  Welcome ")

        section.refresh_from_db()
        assert section.title == "Welcome"
        assert section.questionnaire.revision == revision + 1
        assert (result["before"], result["after"]) == (before, "Welcome")

    @pytest.mark.parametrize("title", ["", "   ", "x" * 201])
    def test_rename_section_refuses_a_wrong_title(self, context, title):
        section = Section.objects.all()[0]

        with pytest.raises(ModelRetry, match="cannot be saved"):
            rename_section(context, section.pk, title)

        assert Section.objects.get(pk=section.pk).title == section.title

    def test_unknown_section(self, context):
        with pytest.raises(ModelRetry, match=r"Section 0 does not exist\. Call"):
            rename_section(context, 0, "Welcome")


class TestPublishQuestionnaire:
    def test_publish_questionnaire_publishes_a_draft(self, context):
        draft = Questionnaire.objects.get(title="Diabetes first visit")

        result = publish_questionnaire(context, draft.pk)

        draft.refresh_from_db()
        assert draft.status == result["status"] == "published"

    def test_publish_questionnaire_refuses_what_is_no_draft(self, context):
        archived = Questionnaire.objects.get(title="Chronic low back pain baseline")

        with pytest.raises(ModelRetry, match=r"is published, not a draft\. Call"):
            publish_questionnaire(context, archived.pk)

    def test_publish_questionnaire_refuses_an_empty_one(self, context):
        empty = Questionnaire.objects.create(title="Empty")

        with pytest.raises(ModelRetry, match=r"'Empty' has no questions\. It needs"):
            publish_questionnaire(context, empty.pk)

        empty.refresh_from_db()
        assert empty.status == "draft"


class TestDeleteSection:
    def test_delete_section_deletes_with_its_questions(self, context):
        section = Section.objects.all()[0]
        count = section.questions.count()

        result = delete_section(context, section.pk)

        assert result["deleted_questions"] == count
        left = section.questionnaire.sections.values_list("position", flat=True)
        assert list(left) == list(range(len(left)))
        assert not Section.objects.filter(pk=section.pk).exists()
        assert Question.objects.count() == 350 - count

    def test_delete_section_needs_the_permission_for_questions_too(self, context, user):
        section = Section.objects.all()[0]

        with pytest.raises(ToolFailed, match="delete_question' is missing"):
            delete_section(replace(context, user=user), section.pk)

        assert Section.objects.filter(pk=section.pk).exists()
