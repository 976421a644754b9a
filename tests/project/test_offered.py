"""Every sentence that the panel of the demo offers is understood by its model."""

import re

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.urls import reverse

from ai_assistant import conf
from ai_assistant.modules.resolve import page_context
from ai_assistant.testing import answer_interrupt, run_assistant
from ai_assistant.web.panel.chips import chips_of, why_read_only
from ai_assistant.web.panel.suggestions import suggestions_of
from project.demo_model import DemoProvider
from project.questionnaires.models import Question, Questionnaire

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("demo_data")]

DEMO = ("questionnaires", "wiki", "discover", "auth")
UNKNOWN = "None of my rules fits"


@pytest.fixture
def editor():
    """A person who may do all with the data of the demo, and nothing with users."""
    user = get_user_model().objects.create_user("edna", is_staff=True)
    apps = ("questionnaires", "wiki", "discover")
    own = Permission.objects.filter(content_type__app_label__in=apps)
    use = Permission.objects.filter(codename__in=("view_assistant", "use_assistant"))
    user.user_permissions.set([*own, *use])
    return user


@pytest.fixture
def looker():
    """A person who may view the same, and change nothing."""
    user = get_user_model().objects.create_user("vera", is_staff=True)
    apps = ("questionnaires", "wiki", "discover")
    own = Permission.objects.filter(
        content_type__app_label__in=apps, codename__startswith="view_"
    )
    use = Permission.objects.filter(codename__in=("view_assistant", "use_assistant"))
    user.user_permissions.set([*own, *use])
    return user


def model_pages(model):
    """Yield the paths of the pages of a model, on one of its objects if it has any."""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    yield reverse(f"{name}_changelist")
    yield reverse(f"{name}_add")
    first = model._default_manager.order_by("pk").first()
    for action in ("change", "delete", "history") if first else ():
        yield reverse(f"{name}_{action}", args=[first.pk])


def own_pages():
    yield reverse("admin:index")
    yield reverse("admin:app_list", args=["questionnaires"])
    yield reverse("admin:wiki_page_index")
    yield reverse("admin:discover_logline_explore")
    for status in ("draft", "published"):
        found = Questionnaire.objects.filter(status=status).first()
        yield reverse("admin:questionnaires_questionnaire_change", args=[found.pk])
    yield reverse("admin:questionnaires_questionnaire_changelist") + (
        "?status__exact=draft&q=pain"
    )
    for model in (Questionnaire, Question, get_user_model(), Group):
        yield from model_pages(model)


def questionnaire_page():
    found = Questionnaire.objects.filter(status="draft").first()
    return reverse("admin:questionnaires_questionnaire_change", args=[found.pk])


def every_page():
    for model in admin.site._registry:
        if model._meta.app_label in DEMO:
            yield from model_pages(model)


def offered(user, path):
    """Return what an empty panel offers to `user` on the page at `path`."""
    context = page_context(user, path)
    readonly = bool(why_read_only(context))
    found = suggestions_of(context, chips_of(context), readonly=readonly)
    return [one.label for one in found]


def say(user, path, text):
    """Send a sentence, and approve or choose what it leads to."""
    played = run_assistant(user, path, text, provider=DemoProvider({"DELAY_S": 0}))
    for _round in range(3):
        if played.state == "waiting_answer":
            options = played.calls[-1].arguments["options"]
            played = answer_interrupt(played, text=options[-1]["label"])
        elif played.state == "waiting_approval":
            played = answer_interrupt(played, "approve")
    return played


def dead_ends(user, pages):
    """Return the sentences offered there that lead to nothing, and how many there are."""
    said, found, ends = set(), 0, []
    for path in pages:
        model = path.split("/")[2:4]
        for text in offered(user, path):
            if (*model, text) in said:
                continue  # on another page of the same model
            said.add((*model, text))
            played = say(user, path, text)
            failed = [call.error for call in played.calls if call.status != "complete"]
            found += 1
            if played.state != "succeeded" or failed or UNKNOWN in played.text:
                ends.append((path, text, played.state, failed, played.text))
    return found, ends


class TestSentences:
    def test_sentences_of_the_demo_are_all_understood(self, superuser):
        found, ends = dead_ends(superuser, own_pages())

        assert ends == []
        assert found >= 30

    @pytest.mark.broad
    @pytest.mark.parametrize("who", ["superuser", "editor", "looker"])
    def test_sentences_of_every_page_are_understood(self, request, who):
        found, ends = dead_ends(request.getfixturevalue(who), every_page())

        assert ends == []
        assert found >= 40

    @pytest.mark.row("S04")
    def test_what_follows_an_answer_is_understood_too(self, superuser, settings):
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, {"FOLLOWUPS": True})
        path, left, said = questionnaire_page(), ["Summarize this questionnaire."], []
        while left:
            said.append(left.pop())
            played = say(superuser, path, said[-1])
            *_others, suggested = played.calls
            assert (played.state, suggested.status) == ("succeeded", "complete")
            assert UNKNOWN not in played.text
            left += {*suggested.arguments["items"]} - {*said, *left}

        assert len(said) == 4

    @pytest.mark.row("L09")
    def test_a_check_ticks_off_its_plan(self, superuser):
        played = say(superuser, questionnaire_page(), "Check this questionnaire.")

        plans = [one.arguments for one in played.calls if one.name == "update_plan"]
        statuses = [[item["status"] for item in plan["items"]] for plan in plans]
        assert statuses == [
            ["in_progress", "pending"],
            ["done", "in_progress"],
            ["done", "done"],
        ]
        assert "Its history has" in played.text

    @pytest.mark.parametrize("who", ["superuser", "editor", "looker"])
    def test_every_page_offers_something_and_help(self, request, who):
        user = request.getfixturevalue(who)

        for path in own_pages():
            texts = offered(user, path)
            assert texts[-1].startswith("Help"), path
            assert 2 <= len(texts) <= 4, path

    def test_who_changes_nothing_is_offered_no_change(self, looker):
        said = {text for path in own_pages() for text in offered(looker, path)}

        assert not [
            text for text in said if re.match("Change|Add|What does a new", text)
        ]
        assert not [text for text in said if "user" in text or "group" in text]

    def test_published_questionnaire_offers_no_change(self, superuser):
        paths = {
            status: reverse(
                "admin:questionnaires_questionnaire_change",
                args=[Questionnaire.objects.filter(status=status).first().pk],
            )
            for status in ("draft", "published")
        }
        said = {status: offered(superuser, path) for status, path in paths.items()}

        assert "Add a question about sleep." in said["draft"]
        assert "Add a question about sleep." not in said["published"]
