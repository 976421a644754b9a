"""Whether a page is there for a user, asked as a request to it would be."""

import pytest
from django.contrib import admin
from django.contrib.auth.mixins import (
    AccessMixin,
    LoginRequiredMixin,
    PermissionRequiredMixin,
    UserPassesTestMixin,
)
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.urls import path
from django.views import View

from ai_assistant.context.opened import (
    held_permissions,
    may_open,
    may_open_page,
    opened_object,
)
from ai_assistant.context.page import find_page
from ai_assistant.context.viewparts import AssistantMixin, ViewParts
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.models.run import Run
from ai_assistant.modules.resolve import page_context
from ai_assistant.web.panel.chips import Chips
from ai_assistant.web.panel.suggestions import suggestions_of
from project.questionnaires.models import Questionnaire

pytestmark = [pytest.mark.django_db, pytest.mark.row("C15")]

LIST = "/admin/questionnaires/questionnaire/"


class Own(LoginRequiredMixin, View):
    shelf = "public"

    def dispatch(self, request, *args, **kwargs):
        if self.shelf != "public":
            raise PermissionDenied
        return super().dispatch(request, *args, **kwargs)


class Vouched(Own):
    assistant_admits = True


class Bare(AccessMixin, View):
    pass


class Both(PermissionRequiredMixin, UserPassesTestMixin, View):
    permission_required = "questionnaires.view_questionnaire"
    passes = True

    def test_func(self):
        return self.passes


class Numbered(UserPassesTestMixin, View):
    def test_func(self):
        return self.kwargs["number"] == 7


class Broken(UserPassesTestMixin, View):
    def test_func(self):
        raise PermissionDenied


class Lending(AssistantMixin, PermissionRequiredMixin, View):
    permission_required = "questionnaires.view_questionnaire"
    assistant_tools = ("lend",)
    assistant_suggestions = ("Lend it?",)


urlpatterns = [
    path("own/", Own.as_view()),
    path("vouched/", Vouched.as_view()),
    path("bare/", Bare.as_view()),
    path("both/", Both.as_view()),
    path("failing/", Both.as_view(passes=False)),
    path("numbered/<int:number>/", Numbered.as_view()),
    path("broken/", Broken.as_view()),
    path("plain/", View.as_view()),
    path("lending/", Lending.as_view()),
    path("admin/", admin.site.urls),
]


@pytest.fixture(autouse=True)
def _urls(settings):
    settings.ROOT_URLCONF = __name__


class TestViews:
    @pytest.mark.parametrize(
        ("url", "may"),
        [
            ("/own/", False),
            ("/vouched/", True),
            ("/bare/", False),
            ("/both/", True),
            ("/failing/", False),
            ("/numbered/7/", True),
            ("/numbered/8/", False),
            ("/broken/", False),
            ("/plain/", True),
        ],
    )
    def test_every_check_counts(self, user, url, may):
        assert may_open_page(find_page(url), user) is may

    def test_permission_counts_beside_a_test(self, staff):
        assert not may_open_page(find_page("/both/"), staff())

    def test_nobody_is_signed_in(self):
        assert not may_open_page(find_page("/vouched/"), AnonymousUser())


class TestAdminSite:
    @pytest.fixture
    def outsider(self, staff):
        """One with the permission, whom the admin does not let in."""
        made = staff("view_questionnaire")
        made.is_staff = False
        made.save()
        return made

    @pytest.mark.parametrize("url", ["/admin/", "/admin/auth/", LIST])
    def test_admin_site_lets_in_only_its_own(self, staff, url):
        one = staff("view_questionnaire", "view_user")
        assert may_open(find_page(url), one, None)

        one.is_staff = False
        assert not may_open(find_page(url), one, None)

    def test_nothing_of_an_object(self, outsider):
        made = Questionnaire.objects.create(title="Weekly")
        page = find_page(f"{LIST}{made.pk}/change/")

        assert opened_object(page, outsider) is None
        assert held_permissions(page, outsider, None) == []


class TestPartsOfAView:
    def test_parts_of_aview_are_for_those_who_may_open_it(self, user):
        scope = RunScope(Run(page_path="/lending/", module="default"), user)

        assert scope.view_parts.tools == ("lend",)
        first, *_rest = suggestions_of(page_context(user, "/lending/"), Chips())
        assert first.label == "Lend it?"

    def test_parts_of_aview_are_not_for_others(self, staff):
        one = staff()
        scope = RunScope(Run(page_path="/lending/", module="default"), one)

        assert scope.view_parts == ViewParts()
        assert suggestions_of(page_context(one, "/lending/"), Chips()) == []
