import re
from dataclasses import replace

import pytest

from ai_assistant import ModelRetry, ToolFailed
from project.questionnaires.assistant.reading import (
    count_questions,
    list_questionnaires,
    read_questionnaire,
)
from project.questionnaires.models import Questionnaire

pytestmark = pytest.mark.usefixtures("demo_data")


class TestListQuestionnaires:
    def test_list_questionnaires_narrows_by_status_and_search(self, context):
        found = list_questionnaires(context, status="draft", search="visit diabetes")

        assert found["total"] == 1
        assert found["questionnaires"][0]["title"] == "Diabetes first visit"

    def test_total_counts_beyond_the_limit(self, context):
        found = list_questionnaires(context, limit=5)

        assert (found["total"], len(found["questionnaires"])) == (24, 5)

    @pytest.mark.parametrize("limit", [0, 51, -1])
    def test_list_questionnaires_refuses_a_wrong_limit(self, context, limit):
        with pytest.raises(ModelRetry, match=re.escape(f"limit {limit!r} is out of")):
            list_questionnaires(context, limit=limit)


class TestCountQuestions:
    def test_count_questions_counts_all_by_type(self, context):
        counted = count_questions(context)

        assert counted["questions"] == 350
        assert sum(counted["by_type"].values()) == 350

    def test_count_questions_counts_one_questionnaire(self, context):
        one = Questionnaire.objects.get(title="Exit interview")

        counted = count_questions(context, questionnaire_id=one.pk)

        assert (counted["questionnaire"], counted["questions"]) == (one.title, 11)

    def test_unknown_questionnaire(self, context):
        with pytest.raises(ModelRetry, match=r"Questionnaire 0 does not exist\. Call"):
            count_questions(context, questionnaire_id=0)

    def test_title_needs_its_permission(self, context, user):
        user.user_permissions.clear()
        one = Questionnaire.objects.get(title="Exit interview")

        with pytest.raises(ToolFailed, match="view_questionnaire' is missing"):
            count_questions(replace(context, user=user), questionnaire_id=one.pk)


class TestReadQuestionnaire:
    def test_outlines_in_order(self, context):
        one = Questionnaire.objects.get(title="Exit interview")

        outline = read_questionnaire(context, one.pk)

        titles = [section["title"] for section in outline["sections"]]
        assert titles == ["Your work", "Leadership", "Looking back and ahead"]
        counts = [len(section["questions"]) for section in outline["sections"]]
        assert counts == [4, 4, 3]

    def test_read_questionnaire_shows_only_what_the_user_may_see(self, context, user):
        one = Questionnaire.objects.get(title="Exit interview")

        outline = read_questionnaire(replace(context, user=user), one.pk)

        assert outline["title"] == "Exit interview"
        assert "sections" not in outline

    def test_read_questionnaire_reads_in_few_queries(
        self, context, django_assert_max_num_queries
    ):
        one = Questionnaire.objects.get(title="Exit interview")

        with django_assert_max_num_queries(4):
            read_questionnaire(context, one.pk)
