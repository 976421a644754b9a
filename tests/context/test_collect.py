"""All that is known of a page; what fails is contained and seen by its owner."""

import datetime
import json
import threading

import pytest
from django.contrib import admin
from django.utils import translation
from django.views import View

import ai_assistant
from ai_assistant import ContextItem, PageInfo, conf
from ai_assistant.context import collect
from ai_assistant.context.collect import (
    KeptChips,
    collect_items,
    from_browser,
    sent_items,
)
from ai_assistant.context.viewparts import (
    AssistantMixin,
    assistant_view,
    registered_parts,
)
from ai_assistant.safety.bulkhead import HANGING
from project.questionnaires.models import Questionnaire
from tests.context.conftest import context_of, seen

pytestmark = pytest.mark.django_db

LIST = "/admin/questionnaires/questionnaire/"
THREADS = collect._providers  # each test gets its own thread instead


@pytest.fixture
def questionnaire(user):
    return Questionnaire.objects.create(title="Weekly", owner=user)


@pytest.fixture
def options(settings):
    def change(**changed):
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, changed)

    return change


class Hanging:
    """Registers providers that return when they are let go, and counts their calls."""

    def __init__(self):
        self.asked = {}
        self.go_on = threading.Event()

    def __call__(self, *names):
        for name in names:
            self.asked[name] = 0
            ai_assistant.context(name=name)(self.one(name))
        return self.asked

    def one(self, name):
        def wait(context):
            self.asked[name] += 1
            self.go_on.wait(60)
            return "done"

        return wait


@pytest.fixture
def hanging(monkeypatch):
    """Make providers that hang, in the threads in which a site's are asked."""
    monkeypatch.setattr(collect, "_providers", THREADS)
    hanging = Hanging()
    yield hanging
    hanging.go_on.set()


@pytest.mark.row("C01")
class TestPageItem:
    def test_list(self, user):
        page = seen(user, f"{LIST}?status__exact=draft&q=week")["page"]

        assert page.value["path"] == LIST
        assert page.value["you may"] == ["view", "add", "change", "delete"]
        assert page.description == "The list of questionnaires in the administration."
        assert (page.title, page.source) == ("questionnaires", "server")

    def test_filters_and_search_of_a_list_have_items_of_their_own(self, user):
        items = seen(user, f"{LIST}?status__exact=draft&owner__id__exact=3&q=week")

        assert list(items) == ["page", "filters", "search"]
        assert items["filters"].title == "Filter: draft, owner"
        assert items["filters"].value["status__exact"] == "draft"
        assert (items["search"].title, items["search"].value) == (
            "Search: week",
            "week",
        )
        assert {items["filters"].label, items["search"].label} == {"data"}

    def test_object(self, user, questionnaire):
        items = seen(user, f"{LIST}{questionnaire.pk}/change/")

        assert list(items) == ["page", "object"]
        assert items["object"].title == "Weekly"
        assert items["object"].label == "data"

    def test_object_that_the_user_may_not_see(self, staff, questionnaire):
        items = seen(staff(), f"{LIST}{questionnaire.pk}/change/")

        assert list(items) == ["page"]
        assert "Weekly" not in str(items)
        assert "you may" not in items["page"].value

    @pytest.mark.parametrize(
        "path", ["", "/nowhere/", "//other.example/admin/", "/assistant/"]
    )
    def test_path_of_no_page(self, user, path):
        assert seen(user, path) == {}

    @pytest.mark.row("C12")
    @pytest.mark.parametrize("path", ["/admin/", "/admin/auth/", f"{LIST}1/history/"])
    def test_other_pages_are_described(self, user, path):
        assert seen(user, path)["page"].description.endswith(".")

    @pytest.mark.row("C12")
    def test_description_is_in_the_language_of_the_user(self, user):
        with translation.override("de"):
            page = seen(user, "/admin/auth/user/")["page"]

        assert "Benutzer" in page.description

    @pytest.mark.row("C17")
    def test_page_item_tells_path_and_language(self, user):
        with translation.override("de"):
            page = seen(user, LIST)["page"]

        assert (page.value["path"], page.value["language"]) == (LIST, "de")

    @pytest.mark.row("T16")
    def test_page_item_tells_view_and_its_arguments(self, user, questionnaire):
        page = seen(user, f"{LIST}{questionnaire.pk}/change/")["page"]

        assert page.value["view"] == "admin:questionnaires_questionnaire_change"
        assert page.value["arguments"] == {"object_id": str(questionnaire.pk)}

    def test_page_item_at_most_three_queries_beside_the_object(
        self, staff, questionnaire, django_assert_max_num_queries
    ):
        nora = staff("view_questionnaire", "change_questionnaire")

        with django_assert_max_num_queries(4):
            found = seen(nora, f"{LIST}{questionnaire.pk}/change/")

        assert "object" in found

    def test_model_admin_that_raises_is_contained(
        self, user, questionnaire, monkeypatch
    ):
        def fail(request):
            raise KeyError("of the site")

        model_admin = admin.site.get_model_admin(Questionnaire)
        monkeypatch.setattr(model_admin, "get_queryset", fail)

        found = seen(user, f"{LIST}{questionnaire.pk}/change/")

        assert found["object"].error == "KeyError"
        assert "page" in found

    def test_text_of_an_object_that_raises_is_contained(
        self, user, questionnaire, monkeypatch
    ):
        monkeypatch.setattr(Questionnaire, "__str__", lambda self: 1 / 0)

        found = seen(user, f"{LIST}{questionnaire.pk}/change/")

        assert found["object"].error == "ZeroDivisionError"


@pytest.mark.row("C02")
class TestProviders:
    def test_providers_gets_the_object_of_its_page(self, user, questionnaire):
        @ai_assistant.context("questionnaires.Questionnaire", view="change")
        def revision(context, opened):
            """The revision of the questionnaire."""
            return {"revision": opened.revision, "by": context.user.username}

        found = seen(user, f"{LIST}{questionnaire.pk}/change/")["revision"]

        assert found.value == {"revision": questionnaire.revision, "by": "ada"}
        assert found.description == "The revision of the questionnaire."
        assert (found.source, found.label) == ("server", "data")

    @pytest.mark.parametrize(
        ("model", "view", "asked"),
        [
            ("", "", True),
            ("questionnaires.questionnaire", "", True),
            ("questionnaires.section", "", False),
            ("", "changelist", True),
            ("", "change", False),
            ("", "admin:questionnaires_questionnaire_changelist", True),
        ],
    )
    def test_providers_is_asked_on_its_pages_only(self, user, model, view, asked):
        ai_assistant.context(model, view=view, name="own")(lambda context: 1)

        assert ("own" in seen(user, LIST)) is asked

    def test_converter(self, user):
        ai_assistant.context(name="own", convert=sorted)(lambda context: {3, 1})

        assert seen(user, LIST)["own"].value == [1, 3]

    def test_values_of_django_are_converted(self, user):
        day = datetime.date(2024, 2, 1)
        ai_assistant.context(name="own")(lambda context: {"day": day})

        assert seen(user, LIST)["own"].value == {"day": "2024-02-01"}

    def test_none_is_nothing(self, user):
        ai_assistant.context(name="own")(lambda context: None)

        assert "own" not in seen(user, LIST)

    def test_item_of_its_own_cannot_come_from_elsewhere(self, user):
        item = ContextItem(description="d", value=1, source="user", title="T")
        ai_assistant.context(name="own")(lambda context: item)

        found = seen(user, LIST)["own"]
        assert (found.source, found.title, found.id) == ("server", "T", "own")

    @pytest.mark.row("C09")
    def test_several_are_kept_apart_and_ordered(self, user):
        items = [
            ContextItem(description="a", priority=200),
            ContextItem(description="b"),
        ]
        ai_assistant.context(name="own")(lambda context: items)

        assert list(seen(user, LIST)) == ["own", "page", "own-1"]

    @pytest.mark.parametrize(
        "value", [object(), {1, 2}, float("nan"), {"a": object()}, b"x", lambda: 0]
    )
    def test_value_that_json_cannot_hold(self, user, value):
        ai_assistant.context(name="own")(lambda context: value)
        ai_assistant.context(name="other")(lambda context: 1)

        found = seen(user, LIST)

        assert found["own"].error in {"TypeError", "ValueError"}
        assert found["own"].value is None
        assert found["other"].value == 1

    def test_converter_that_returns_what_json_cannot_hold(self, user):
        ai_assistant.context(name="own", convert=lambda _: object())(lambda context: 1)

        assert seen(user, LIST)["own"].error == "TypeError"

    def test_one_that_raises(self, user, caplog):
        @ai_assistant.context()
        def broken(context):
            raise RuntimeError("secret of the site")

        found = seen(user, LIST)["broken"]

        assert found.error == "RuntimeError"
        assert "secret of the site" in caplog.text  # in the log, for its owner
        assert "secret of the site" not in str(found)

    def test_one_that_takes_too_long(self, user, settings, monkeypatch):
        from concurrent.futures import ThreadPoolExecutor

        options = conf.merged(settings.AI_ASSISTANT, {"TIMEOUTS": {"CONTEXT_S": 0.05}})
        settings.AI_ASSISTANT = options
        go_on = threading.Event()
        ai_assistant.context(name="slow")(lambda context: go_on.wait(10) and None)
        with ThreadPoolExecutor(max_workers=2) as pool:
            monkeypatch.setattr(collect, "_providers", pool)
            found = seen(user, LIST)
            go_on.set()

        assert found["slow"].error == "It took too long."
        assert "page" in found

    def test_those_that_hang_cost_the_others_nothing(self, user, hanging, options):
        asked = hanging("a", "b", "c", "d")
        ai_assistant.context(name="well")(lambda context: 1)

        options(TIMEOUTS={"CONTEXT_S": 0.05})
        while min(asked.values()) < HANGING:
            assert seen(user, LIST)["d"].error
        options(TIMEOUTS={"CONTEXT_S": 5.0})
        found = seen(user, LIST)

        assert found["well"].value == 1
        for name in asked:
            assert found[name].error.startswith("It hangs, and is not called")
        assert asked == dict.fromkeys("abcd", HANGING)

    def test_one_that_hung_is_asked_when_it_has_returned(
        self, user, hanging, options, caplog
    ):
        asked = hanging("slow")
        options(TIMEOUTS={"CONTEXT_S": 0.05})
        while asked["slow"] < HANGING:
            seen(user, LIST)
        assert "'slow' took too long" in caplog.text
        assert seen(user, LIST)["slow"].error.startswith("It hangs")
        assert "'slow' hangs, and is not called" in caplog.text

        hanging.go_on.set()
        options(TIMEOUTS={"CONTEXT_S": 5.0})
        while (found := seen(user, LIST)["slow"]).error:
            assert found.error.startswith("It hangs")

        assert found.value == "done"

    def test_one_that_raises_a_timeout_of_its_own(self, user):
        @ai_assistant.context()
        def away(context):
            raise TimeoutError

        assert seen(user, LIST)["away"].error == "TimeoutError"

    def test_providers_is_not_asked_where_the_page_is_not_the_users(
        self, staff, questionnaire
    ):
        asked = []
        ai_assistant.context("questionnaires.questionnaire")(
            lambda context: asked.append(1)
        )
        nora = staff()

        seen(nora, LIST)
        seen(nora, f"{LIST}{questionnaire.pk}/change/")

        assert asked == []


class TestChosen:
    items = (
        ContextItem(id="a", description="a"),
        ContextItem(id="b", description="b", auto=False),
        ContextItem(id="c", description="c", error="KeyError"),
    )

    def ids(self, **kept):
        return [item.id for item in sent_items(self.items, KeptChips(**kept))]

    @pytest.mark.row("C07")
    def test_automatic_or_mentioned(self):
        assert self.ids() == ["a"]
        assert self.ids(mentioned=frozenset({"b"})) == ["a", "b"]

    def test_dropped(self):
        assert self.ids(dropped=frozenset({"a"})) == []

    def test_mentioned_and_dropped(self):
        assert self.ids(dropped=frozenset({"b"}), mentioned=frozenset({"b"})) == ["a"]

    def test_failed_is_never_sent(self):
        assert "c" not in self.ids(mentioned=frozenset({"c"}))


@pytest.mark.row("C04")
class TestFromBrowser:
    def test_from_browser_is_data_of_the_browser_whatever_it_says(self):
        item = from_browser(
            {"id": "page", "source": "server", "label": "site", "priority": 999}
        )

        assert (item.source, item.label, item.priority) == ("browser", "data", 10)
        assert item.id == "browser.page"
        assert item.title == "site"

    def test_from_browser_is_bounded(self):
        item = from_browser(
            {"id": "x" * 999, "description": "y" * 999, "label": "z" * 999}
        )

        assert len(item.id) == len("browser.") + 100
        assert (len(item.description), len(item.title)) == (500, 80)


class TestViewParts:
    def test_view_parts_of_a_function(self):
        @assistant_view(context=[len], tools=["look_around"], suggestions=["Ask"])
        def view(request):
            pass

        found = registered_parts(view)
        assert (found.context, found.tools, found.suggestions) == (
            (len,),
            ("look_around",),
            ("Ask",),
        )

    def test_view_parts_of_a_class(self, user):
        class Log(AssistantMixin, View):
            assistant_tools = ("look_around",)

            def assistant_context(self, context, opened=None):
                return {"who": context.user.username}

        found = registered_parts(Log.as_view())

        assert found.tools == ("look_around",)
        (described,) = found.context
        assert described(context_of(user, "/")) == {"who": "ada"}

    def test_view_parts_of_a_model_admin(self, user, questionnaire, monkeypatch):
        model_admin = admin.site.get_model_admin(Questionnaire)

        class Told(AssistantMixin, type(model_admin)):
            def assistant_context(self, context, opened=None):
                return {"opened": opened.title if opened else None}

        monkeypatch.setattr(model_admin, "__class__", Told)

        found = seen(user, f"{LIST}{questionnaire.pk}/change/")

        assert found["view.Told"].value == {"opened": "Weekly"}

    def test_view_parts_of_any_other(self):
        assert registered_parts(lambda request: None).tools == ()


def test_page_of_the_context_is_the_default():
    assert collect_items(context_of(None, "/nowhere/")).items == []
    assert json.dumps(PageInfo().path) == '""'
