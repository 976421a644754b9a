"""Nothing is changed where the module, a missing permission or the person forbids it."""

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.template.loader import render_to_string

import ai_assistant
from ai_assistant import ContextModule, conf
from ai_assistant.context.page import page_info
from ai_assistant.engine.calls.availability import tools_of
from ai_assistant.engine.execution.presence import say_present
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.models.run import Run
from ai_assistant.modules.resolve import module_for
from ai_assistant.registry import registry
from ai_assistant.testing import (
    answer_interrupt,
    assert_tool_called,
    call,
    reply,
    run_assistant,
)
from ai_assistant.web.panel.panel import page_panel
from project.questionnaires.models import Questionnaire

pytestmark = pytest.mark.django_db

LIST = "/admin/questionnaires/questionnaire/"
DENIED = "The user may view but not change Questionnaires on this page."


@pytest.fixture(autouse=True)
def _tools(settings):
    settings.AI_ASSISTANT = conf.merged(
        settings.AI_ASSISTANT, {"LIMITS": {"TOOL_SCHEMA_CHARS": 10**6}, "POLICY": {}}
    )
    with registry.restored():
        for kind, name in list(registry._registry):
            registry._remove(kind, name)
        ai_assistant.tool(effect="read", name="look")(lambda: "seen")
        ai_assistant.tool(effect="ui", name="point")(lambda: "pointed")
        ai_assistant.tool(effect="write", name="change", policy="allow")(_change)
        ai_assistant.tool(effect="destructive", name="wipe")(_change)
        yield


def _change():
    Questionnaire.objects.create(title="changed")


@pytest.fixture
def viewer():
    return with_permissions("nora", "view_questionnaire")


def with_permissions(name, *codenames):
    user = get_user_model().objects.create_user(name, is_staff=True)
    codenames = (*codenames, "view_assistant", "use_assistant")
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return user


def register(**parts):
    parts = {"id": "own", "matches": ["admin:questionnaires_*"], **parts}
    return ai_assistant.register(type("OwnModule", (ContextModule,), parts))


def offered(user, path=LIST, **fields):
    run = Run(page_path=path, module=module_for(page_info(path).view_name).id, **fields)
    return [tool.name for tool in tools_of(RunScope(run, user))]


ALL = ["look", "point", "change", "wipe"]
SAFE = ["look", "point"]


@pytest.mark.row("G01")
class TestMissingPermission:
    @pytest.mark.parametrize("path", [LIST, f"{LIST}1/change/"])
    def test_missing_permission_makes_the_page_read_only(self, viewer, path):
        assert offered(viewer, path) == SAFE

    @pytest.mark.parametrize("one", ["add", "change", "delete"])
    def test_one_of_three_is_enough(self, one):
        user = with_permissions("bo", "view_questionnaire", f"{one}_questionnaire")

        assert offered(user) == ALL

    def test_missing_permission_is_of_the_table_of_the_page(self, viewer):
        assert offered(viewer, "/admin/") == ALL

    def test_guard_may_be_off(self, viewer):
        register(features={"read_only_guard": False})

        assert offered(viewer) == ALL

    def test_admin_that_raises_is_read_only(self, viewer, monkeypatch):
        from project.questionnaires.admin import QuestionnaireAdmin

        monkeypatch.setattr(
            QuestionnaireAdmin, "has_change_permission", lambda *_: 1 / 0
        )

        assert offered(viewer) == SAFE


@pytest.mark.row("G01")
class TestObject:
    """A module whose rule is about the object of the page."""

    REASON = "Published: the assistant changes drafts only."

    @pytest.fixture
    def admin(self):
        return get_user_model().objects.create_superuser("ada", password="x")

    @pytest.fixture
    def one(self):
        register(read_only=True, read_only_reason=self.REASON, tools=["paint"])
        ai_assistant.tool(effect="write", name="paint")(lambda: None)
        ai_assistant.tool(effect="write", name="post", external=True)(lambda: None)
        return Questionnaire.objects.create(title="One")

    @pytest.fixture
    def say(self, admin, one):
        def send(handler, **options):
            tool = {"effect": "write", "name": "act", "policy": "allow", **options}

            def act() -> None:
                handler()

            ai_assistant.tool(**tool)(act)
            path = f"{LIST}{one.pk}/change/"
            played = run_assistant(
                admin, path, "x", replies=[reply("", call("act")), "."]
            )
            if played.state == "waiting_approval":  # since it is about data
                assert not options
                played = answer_interrupt(played, "approve")
            return assert_tool_called(played, "act")

        return send

    def test_tools_of_the_page_and_beyond_the_site_are_closed(self, admin, one):
        names = offered(admin, f"{LIST}{one.pk}/change/")

        assert names == ALL

    def test_other_objects_can_be_changed(self, say):
        made = say(lambda: Questionnaire.objects.create(title="Two"))

        assert (made.status, made.error) == ("complete", "")
        assert Questionnaire.objects.count() == 2

    def test_object_of_the_page_is_not_changed_by_any_tool(self, say, one):
        made = say(lambda: Questionnaire.objects.filter(pk=one.pk).update(title="X"))

        assert (made.status, made.error_type) == ("denied", "not_here")
        assert made.error == f"{self.REASON} Other objects can be changed."
        one.refresh_from_db()
        assert one.title == "One"

    def test_part_of_the_object_is_not_added(self, say, one):
        made = say(lambda: one.sections.create(title="New", position=0))

        assert made.status == "denied"
        assert not one.sections.exists()

    def test_nothing_is_asked_about_what_would_be_refused(self, say, one):
        made = say(
            lambda: Questionnaire.objects.filter(pk=one.pk).update(title="X"),
            preview="transaction",
        )

        assert made.status == "denied"
        assert made.error.startswith(self.REASON)

    def test_rule_is_that_of_before_the_call(self, admin):
        class OwnModule(ContextModule):
            id = "own"
            matches = ("admin:questionnaires_*",)

            def is_read_only(self, context):
                return not Questionnaire.objects.filter(status="draft").exists()

        ai_assistant.register(OwnModule)
        one = Questionnaire.objects.create(title="One")
        publish = {"effect": "write", "name": "publish", "policy": "allow"}
        ai_assistant.tool(**publish)(
            lambda: Questionnaire.objects.update(status="published")
        )
        said = [reply("", call("publish")), "."]

        played = run_assistant(admin, f"{LIST}{one.pk}/change/", "x", replies=said)
        played = answer_interrupt(played, "approve")

        assert assert_tool_called(played, "publish").status == "complete"

    def test_proxy_of_the_table_is_the_table(self, say, one):
        proxy = type(
            "Proxied",
            (Questionnaire,),
            {
                "__module__": __name__,
                "Meta": type(
                    "Meta", (), {"proxy": True, "app_label": "questionnaires"}
                ),
            },
        )
        try:
            made = say(lambda: proxy.objects.filter(pk=one.pk).update(title="X"))
        finally:
            del apps.all_models["questionnaires"]["proxied"]
            apps.clear_cache()

        assert made.status == "denied"

    def test_viewer_keeps_the_tools_that_ask_for_a_permission(self):
        user = with_permissions("bo", "view_questionnaire", "add_page")
        ai_assistant.tool(
            effect="write", name="write_page", permission="wiki.add_page"
        )(lambda: None)

        assert offered(user) == [*SAFE, "write_page"]


@pytest.mark.row("G02")
@pytest.mark.row("G03")
class TestRefused:
    @pytest.mark.parametrize("name", ["change", "wipe"])
    def test_refused_without_the_permission(self, viewer, name):
        played = run_assistant(
            viewer, LIST, "x", replies=[reply("", call(name)), "No."]
        )

        made = assert_tool_called(played, name)
        assert (made.status, made.error) == ("denied", DENIED)
        assert not Questionnaire.objects.exists()

    def test_what_was_approved_before_is_refused(self):
        user = with_permissions("bo", "view_questionnaire", "change_questionnaire")
        played = run_assistant(
            user, LIST, "x", replies=[reply("", call("wipe")), "No."]
        )
        assert played.state == "waiting_approval"
        user.user_permissions.set(
            Permission.objects.filter(codename__endswith="_assistant")
        )

        played = answer_interrupt(played, "approve")

        assert assert_tool_called(played, "wipe").error == DENIED
        assert not Questionnaire.objects.exists()


class TestLookOnly:
    @pytest.fixture
    def admin(self):
        return get_user_model().objects.create_superuser("ada", password="x")

    def test_look_only_offers_nothing_that_writes(self, admin):
        assert offered(admin, look_only=True) == SAFE
        assert offered(admin) == ALL

    def test_look_only_holds_also_without_the_guard(self, admin):
        register(features={"read_only_guard": False})

        assert offered(admin, look_only=True) == SAFE

    def test_look_only_is_the_reason_of_the_refusal(self, admin):
        scope = RunScope(
            Run(page_path=LIST, module="admin-list", look_only=True), admin
        )

        assert scope.read_only.refusal == (
            "The user has chosen “View only”. Nothing is changed."
        )


@pytest.mark.row("G04")
@pytest.mark.row("N05")
class TestBanner:
    @pytest.fixture
    def banner(self):
        def drawn(user, path=LIST):
            panel = page_panel(user, path, "", "")
            return render_to_string("ai_assistant/banner.html", {"panel": panel})

        return drawn

    def test_banner_names_what_may_not_be_changed(self, viewer, banner):
        assert (
            "You can view but not change Questionnaires: the assistant cannot either."
        ) in banner(viewer)

    def test_banner_of_a_module(self, banner):
        register(read_only=True)
        admin = get_user_model().objects.create_superuser("ada", password="x")

        assert "The assistant changes nothing on this page." in banner(admin)

    def test_banner_is_the_reason_of_the_module(self, banner):
        one = Questionnaire.objects.create(title="One")
        register(read_only=True, read_only_reason="Published: only drafts change.")
        admin = get_user_model().objects.create_superuser("ada", password="x")

        html = banner(admin, f"{LIST}{one.pk}/change/")

        assert "Published: only drafts change." in html
        assert "You can view" not in html

    def test_banner_is_none_where_something_may_be_changed(self, banner):
        say_present("another|-|-|1|1")  # the banner of a site without one is not asked
        user = with_permissions("bo", "view_questionnaire", "add_questionnaire")

        index = "/admin/"  # that of a list waits for a change, hidden
        empty = banner(user, index).strip().replace(" >", ">")
        assert empty == '<div id="aia-banner"><div id="aia-undo-banner"></div></div>'
        assert "not change" not in banner(user)
