import pytest
from django.urls import reverse

from project.questionnaires.models import Questionnaire, Schedule

pytestmark = pytest.mark.django_db
MODELS = ("questionnaire", "section", "questiontype", "question", "schedule")


@pytest.fixture
def admin_page(demo_data, client, superuser):
    client.force_login(superuser)
    return client


def form_of(questionnaire, **changed):
    """What the browser posts for a questionnaire without inline rows."""
    empty = {"TOTAL_FORMS": "0", "INITIAL_FORMS": "0"}
    inlines = {
        f"{prefix}-{key}": value
        for prefix in ("sections", "variables", "schedules")
        for key, value in empty.items()
    }
    fields = {
        "title": questionnaire.title,
        "status": "draft",
        "default_language": "en",
        "languages": '["en"]',
        "initial-languages": '["en"]',  # hidden, since its default is a function
    }
    return {**fields, **inlines, **changed}


class TestQuestionnairesAdmin:
    @pytest.mark.parametrize("model", MODELS)
    def test_lists_and_searches(self, admin_page, model):
        url = reverse(f"admin:questionnaires_{model}_changelist")

        assert admin_page.get(url).status_code == 200
        assert admin_page.get(url, {"q": "asthma"}).status_code == 200

    def test_questionnaires_admin_counts_on_the_list(self, admin_page):
        url = reverse("admin:questionnaires_questionnaire_changelist")

        rows = admin_page.get(url, {"q": "Exit interview"}).context["cl"].result_list

        assert [(row.sections_total, row.questions_total) for row in rows] == [(3, 11)]

    def test_page_shows_sections_and_schedules(self, admin_page):
        shown = Questionnaire.objects.get(title="Exit interview")

        page = admin_page.get(
            reverse("admin:questionnaires_questionnaire_change", args=[shown.pk])
        )

        formsets = [inline.formset for inline in page.context["inline_admin_formsets"]]
        assert [formset.initial_form_count() for formset in formsets] == [3, 1, 2]

    def test_saving_a_change_counts_a_revision(self, admin_page):
        saved = Questionnaire.objects.create(title="Before")
        url = reverse("admin:questionnaires_questionnaire_change", args=[saved.pk])

        admin_page.post(url, form_of(saved))
        admin_page.post(url, form_of(saved, title="After"))

        saved.refresh_from_db()
        assert (saved.title, saved.revision) == ("After", 2)


class TestSchedulesAdmin:
    @pytest.mark.parametrize(("action", "before"), [("pause", True), ("resume", False)])
    def test_actions(self, admin_page, action, before):
        chosen = Schedule.objects.filter(active=before)[:3]
        ids = [schedule.pk for schedule in chosen]
        url = reverse("admin:questionnaires_schedule_changelist")

        page = admin_page.post(
            url, {"action": action, "_selected_action": ids}, follow=True
        )

        assert f"{action.capitalize()}d 3 schedules." in page.text
        assert not Schedule.objects.filter(pk__in=ids, active=before).exists()
