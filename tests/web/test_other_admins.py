"""Pages of other admins that opt in by the names of their views."""

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import ResolverMatch, include, path

from ai_assistant.web.middleware import AssistantMiddleware

PAGE = "<!doctype html><html><head><title>x</title></head><body>Hello</body></html>"
MARK = b'id="aia"'


def staff_page(request):
    return HttpResponse(PAGE)


STAFF_PAGES = (
    path("sales/", staff_page, name="reports_sales"),
    path("shop/", staff_page, name="shop"),
    path("admin/", admin.site.urls),
    path("ai/", include("ai_assistant.urls")),
)


@pytest.fixture
def superuser(db):
    return get_user_model().objects.create_superuser("root", password="root")


@pytest.mark.parametrize(
    ("names", "has_panel"),
    [([], False), (["dashboard:*"], True), (["dashboard:order"], False)],
)
def test_page_of_another_admin(superuser, settings, names, has_panel):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PANEL": {"VIEWS": names}}
    asked = RequestFactory().get("/dashboard/")
    asked.user = superuser
    asked.resolver_match = ResolverMatch(
        lambda: None, (), {}, url_name="index", namespaces=["dashboard"]
    )

    response = AssistantMiddleware(lambda _: HttpResponse(PAGE))(asked)

    assert (MARK in response.content) is has_panel


class TestOverHTTP:
    @pytest.fixture(autouse=True)
    def _opted_in(self, settings):
        settings.ROOT_URLCONF = STAFF_PAGES
        own = {"PANEL": {"VIEWS": ["reports_*"]}}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, **own}

    @pytest.mark.parametrize(
        ("at", "has_panel"), [("/sales/", True), ("/shop/", False)]
    )
    def test_page_of_the_named_views_alone(self, client, superuser, at, has_panel):
        client.force_login(superuser)

        assert client.get(at).content.count(MARK) == has_panel

    def test_none_for_who_may_not_use_it(self, client, django_user_model):
        assert MARK not in client.get("/sales/").content

        client.force_login(django_user_model.objects.create_user("eve"))
        assert MARK not in client.get("/sales/").content
