"""Where a run may take the person, and what it is told there."""

from types import ModuleType

import pytest
from django.conf.urls.i18n import i18n_patterns
from django.contrib.admin import AdminSite, site
from django.contrib.admin.sites import all_sites
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group, Permission
from django.http import HttpResponse
from django.urls import base, include, path
from django.views import View

from ai_assistant import AssistantMixin, ContextModule
from ai_assistant.context.viewparts import assistant_view
from ai_assistant.engine.interrupts.browser import claim_call, finish_call
from ai_assistant.engine.lifecycle.scope import with_page
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from project import urls as project_urls
from project.questionnaires.models import Questionnaire
from tests.engine.calls.browser.conftest import said
from tests.engine.conftest import resume

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("T18")]


@pytest.fixture
def going(play, script):
    def go(view_name, arguments=None, **fields):
        wanted = {"view_name": view_name, "arguments": arguments}
        script.add(reply("", call("navigate_to", wanted)), "There.")
        return play(**fields)

    return go


def error(run):
    assert run.state == "succeeded"
    return run.calls.get().result["error_type"]


class TestWhere:
    def test_path_is_made_on_the_server(self, going):
        group = Group.objects.create(name="editors")

        run = going("admin:auth_group_change", {"object_id": group.pk})

        assert run.state == "waiting_browser"
        path = run.interrupts.get().request["arguments"]["path"]
        assert path == f"/admin/auth/group/{group.pk}/change/"

    @pytest.mark.parametrize(
        "name", ["admin:index", "admin:auth_user_changelist", "admin:auth_user_add"]
    )
    def test_pages_of_the_admin(self, going, name):
        assert going(name).state == "waiting_browser"

    @pytest.mark.parametrize(
        "name", ["ai_assistant:full", "logout", "https://example.org/", ""]
    )
    def test_namespace_that_is_not_allowed(self, going, name):
        assert error(going(name)) == "failed"

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("admin:logout", None),
            ("admin:login", None),
            ("admin:password_change", None),
            ("admin:password_change_done", None),
            ("admin:jsi18n", None),
            ("admin:autocomplete", None),
            ("admin:auth_user_delete", {"object_id": 1}),
            ("admin:auth_user_password_change", {"id": 1}),
            ("admin:view_on_site", {"content_type_id": 1, "object_id": 1}),
        ],
    )
    def test_pages_that_are_never_opened(self, going, name, arguments):
        assert error(going(name, arguments)) == "failed"

    def test_unknown_name_can_be_corrected(self, going):
        assert error(going("admin:nothing_here")) == "retry"

    def test_object_that_is_not_there(self, going):
        assert error(going("admin:auth_group_change", {"object_id": 99})) == "failed"

    def test_further_namespaces(self, going, options):
        options(NAVIGATE_TO=["ai_assistant"])

        assert going("ai_assistant:full").state == "waiting_browser"

    def test_namespace_that_the_site_has_taken_out(self, going, options):
        options(NAVIGATE_TO=[])

        assert error(going("admin:index")) == "failed"

    @pytest.mark.parametrize("action", ["changelist", "add"])
    def test_page_that_the_person_may_not_open(self, going, staff, action):
        run = going(f"admin:auth_group_{action}", user_id=staff.pk)

        assert error(run) == "failed"

    def test_page_that_the_person_may_open(self, going, staff):
        staff.user_permissions.add(Permission.objects.get(codename="view_group"))

        run = going("admin:auth_group_changelist", user_id=staff.pk)

        assert run.state == "waiting_browser"


class TestWhereTheAdminIs:
    @pytest.fixture
    def _own_admin(self, settings):
        own = AdminSite(name="back")
        own.register(Group, GroupAdmin)
        settings.ROOT_URLCONF = urls("own", path("back/", own.urls))

    @pytest.mark.usefixtures("_own_admin")
    def test_admin_with_a_name_of_its_own(self, going):
        Group.objects.create(pk=7, name="editors")

        run = going("admin:auth_group_change", {"object_id": 7})

        path_ = run.interrupts.get().request["arguments"]["path"]
        assert path_ == "/back/auth/group/7/change/"

    @pytest.mark.usefixtures("_own_admin")
    def test_where_the_admin_is_that_name_is_to_be_allowed(self, going):
        assert error(going("back:index")) == "failed"

    def test_language_of_the_page(self, going, settings):
        settings.ROOT_URLCONF = urls(
            "translated", *i18n_patterns(path("admin/", site.urls))
        )

        run = going("admin:index", page_path="/de/admin/auth/group/")

        path_ = run.interrupts.get().request["arguments"]["path"]
        assert path_ == "/de/admin/"

    def test_prefix_of_the_site(self, going, settings, monkeypatch):
        settings.FORCE_SCRIPT_NAME = "/app"
        monkeypatch.setattr(base._prefixes, "value", "/app/", raising=False)

        run = going("admin:index", page_path="/app/admin/auth/group/")

        path_ = run.interrupts.get().request["arguments"]["path"]
        assert path_ == "/app/admin/"


def urls(name, *patterns):
    module = ModuleType(f"urls_{name}")
    assistant = path("assistant/", include("ai_assistant.urls"))
    module.urlpatterns = [*patterns, assistant]
    return module


def approve(request):
    return HttpResponse("All are approved.")


@assistant_view(tools=["look_at_report"])
def report(request):
    return HttpResponse("12")


class Board(AssistantMixin, View):
    pass


# URLs that a site has put into the admin's own namespace.
OWN = [
    path("approve/", approve, name="shop_order_approve"),
    path("report/", report, name="shop_report"),
    path("board/", Board.as_view(), name="shop_board"),
    path("logout-all/", approve, name="shop_logout"),
    path("sign-out/", approve, name="shop_sign_out"),
    path("delete-all/", approve, name="shop_delete_all"),
    # Stands before the page of the admin that has the same path.
    path("auth/group/", approve, name="shop_shadow"),
]


class ClosedSite(AdminSite):
    def has_permission(self, request):
        return False


class TestViewsOfTheSite:
    """A custom view may change something by GET, whoever may open it."""

    @pytest.fixture(autouse=True)
    def _urls(self, settings):
        module = ModuleType("urls_of_the_site")
        module.urlpatterns = [
            path("admin/", include(([*OWN, *site.get_urls()], "admin"))),
            *project_urls.urlpatterns,
        ]
        settings.ROOT_URLCONF = module

    def test_view_of_the_site_is_refused_unless_named(self, going):
        run = going("admin:shop_order_approve")

        assert error(run) == "failed"
        assert "a custom page of this site" in run.calls.get().result["error"]

    def test_views_of_the_site_that_stands_in_the_place_of_another(self, going):
        assert error(going("admin:auth_group_changelist")) == "failed"

    def test_views_of_the_site_that_the_site_names(self, going, options):
        options(NAVIGATE_TO=["admin:shop_order_approve"])

        assert going("admin:shop_order_approve").state == "waiting_browser"

    def test_site_of_the_same_name_that_serves_no_page(self, going, options):
        options(NAVIGATE_TO=["admin:shop_order_approve"])
        namesake = ClosedSite()

        assert going("admin:shop_order_approve").state == "waiting_browser"
        assert namesake in all_sites

    def test_name_allows_no_other(self, going, options):
        options(NAVIGATE_TO=["admin:shop_order_approve"])

        assert error(going("admin:index")) == "failed"

    @pytest.mark.parametrize("name", ["admin:shop_report", "admin:shop_board"])
    def test_views_of_the_site_that_declares_itself(self, going, name):
        assert going(name).state == "waiting_browser"

    @pytest.mark.parametrize(
        ("match", "state"),
        [
            ("admin:shop_order_approve", "waiting_browser"),
            ("admin:shop_order_*", "succeeded"),
        ],
    )
    def test_views_of_the_site_that_a_module_names(self, going, match, state):
        class OrderModule(ContextModule):
            matches = (match,)

        with registry.restored():
            registry.add_module(OrderModule())

            assert going("admin:shop_order_approve").state == state

    def test_views_of_the_site_that_ends_the_visit_is_refused_always(
        self, going, options
    ):
        options(NAVIGATE_TO=["admin", "admin:shop_logout", "admin:logout"])

        assert error(going("admin:shop_logout")) == "failed"
        assert error(going("admin:logout")) == "failed"

    def test_views_of_the_site_that_deletes_has_to_be_named(self, going, options):
        assert error(going("admin:shop_delete_all")) == "failed"

        options(NAVIGATE_TO=["admin:shop_delete_all"])
        assert going("admin:shop_delete_all").state == "waiting_browser"


class TestThere:
    def report(self, run, path, value=None, **fields):
        arrived = said(run, path=path, value=value, **fields)
        claim_call(arrived)
        finish_call(with_page(arrived))
        return resume(run).calls.get().result

    def test_result_is_what_is_on_the_new_page(self, going):
        group = Group.objects.create(name="editors")
        run = going("admin:auth_group_change", {"object_id": group.pk})
        path = f"/admin/auth/group/{group.pk}/change/"

        data = self.report(run, path, {"title": "Change group"})["data"]

        assert (data["path"], data["title"]) == (path, "Change group")
        assert data["page"][1]["value"]["text"] == "editors"

    def test_list_is_called_by_its_rows(self, going):
        title = {"title": "Select group to change | Django site admin"}

        told = self.report(
            going("admin:auth_group_changelist"), "/admin/auth/group/", title
        )

        assert told["data"]["title"] == "Groups"

    def test_messages_and_errors_of_the_page(self, going):
        shown = {"messages": ["Saved."], "errors": ["Wrong."] * 50, "title": 3}

        data = self.report(going("admin:index"), "/admin/", shown)["data"]

        assert data["messages"] == ["Saved."]
        assert len(data["errors"]) == 20

    def test_person_may_not_see_the_object_there(self, going, staff):
        group = Group.objects.create(name="editors")
        run = going("admin:index", user_id=staff.pk)

        data = self.report(run, f"/admin/auth/group/{group.pk}/change/")["data"]

        assert "editors" not in str(data)

    def test_unsaved_changes(self, going):
        result = self.report(going("admin:index"), "/admin/", code="unsaved")

        assert result["error_type"] == "unsaved_changes"


class TestList:
    """A list opens as the person would have filtered it by hand."""

    LIST = "admin:questionnaires_questionnaire_changelist"

    @pytest.fixture
    def filtering(self, play, script):
        def go(name, **filters):
            wanted = {"view_name": name, "filters": filters}
            script.add(reply("", call("navigate_to", wanted)), "There.")
            return play()

        return go

    @pytest.mark.row("W01")
    @pytest.mark.parametrize(
        ("filters", "query"),
        [
            ({"status": "draft"}, "status__exact=draft"),
            ({"status__exact": "draft", "q": "a b"}, "status__exact=draft&q=a+b"),
            ({"owner": 1, "o": "-1"}, "owner__id__exact=1&o=-1"),
            ({"o": "99"}, "o=99"),
        ],
    )
    def test_filters_search_and_order(self, filtering, user, filters, query):
        Questionnaire.objects.create(title="One", owner=user)

        run = filtering(self.LIST, **filters)

        assert run.state == "waiting_browser", run.calls.get().result
        path = run.interrupts.get().request["arguments"]["path"]
        assert path == f"/admin/questionnaires/questionnaire/?{query}"

    @pytest.mark.parametrize(
        ("name", "filters"),
        [
            (LIST, {"title__contains": "a"}),
            (LIST, {"owner__password__startswith": "a"}),
            ("admin:auth_user_changelist", {"is_superuser": True}),
            ("admin:auth_user_changelist", {"is_superuser__exact": "1"}),
            ("admin:index", {"q": "a"}),
            # Its search reads a token, and that is one of its columns.
            ("admin:library_book_changelist", {"q": "a"}),
            ("admin:library_book_changelist", {"o": "2.-6"}),
        ],
    )
    def test_filter_that_the_list_does_not_offer_to_tools(
        self, filtering, name, filters
    ):
        assert error(filtering(name, **filters)) == "retry"
