import pytest

from project.questionnaires.assistant.positions import recompute_positions
from project.questionnaires.models import Questionnaire

pytestmark = pytest.mark.usefixtures("demo_data")


class TestRecomputePositions:
    @pytest.fixture(autouse=True)
    def at_once(self, settings):
        settings.DEMO_TASK_DELAY_S = 0

    def gaps(self):
        found = []
        for one in Questionnaire.objects.all():
            rows = list(one.sections.all())
            parts = [rows, *(list(row.questions.all()) for row in rows)]
            found += [
                part
                for part in parts
                if [row.position for row in part] != list(range(len(part)))
            ]
        return found

    def test_recompute_positions_closes_all_gaps(self, background):
        before = len(self.gaps())

        result = recompute_positions(background)

        assert before > 0
        assert self.gaps() == []
        assert result["questionnaires"] == 24

    def test_commits_and_reports_each_questionnaire(self, background):
        recompute_positions(background)

        keys = list(Questionnaire.objects.order_by("pk").values_list("pk", flat=True))
        assert background.marks == keys
        assert [round(fraction * 24) for fraction, _ in background.reports] == list(
            range(1, 25)
        )

    def test_recompute_positions_goes_on_after_its_mark(self, background):
        keys = list(Questionnaire.objects.order_by("pk").values_list("pk", flat=True))
        background.mark = keys[20]

        recompute_positions(background)

        assert background.marks == keys[21:]

    def test_one_questionnaire_only(self, background):
        one = Questionnaire.objects.get(title="Diabetes first visit")

        result = recompute_positions(background, questionnaire_id=one.pk)

        assert (background.marks, result["questionnaires"]) == ([one.pk], 1)

    def test_nothing_to_do_keeps_the_revision(self, background):
        recompute_positions(background)
        before = list(Questionnaire.objects.values_list("pk", "revision"))

        recompute_positions(background)

        assert list(Questionnaire.objects.values_list("pk", "revision")) == before
