"""`{% ai_assistant %}`: the panel on a page where a template puts it."""

import re

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse
from django.template import Context, RequestContext, Template
from django.test import RequestFactory
from django.urls import ResolverMatch

from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.web.middleware import AssistantMiddleware
from tests.web.markup import all_with, one_with

PAGE = "<html><head></head><body>{% load assistant %}{% ai_assistant %}<p>A</p></body></html>"


@pytest.fixture
def superuser(db):
    return get_user_model().objects.create_superuser("root", password="root")


@pytest.fixture
def request_of(superuser):
    def make(path="/shop/", *, user=superuser, **more):
        request = RequestFactory().get(path, **more)
        request.user = user
        request.resolver_match = None
        return request

    return make


def draw(request):
    return Template(PAGE).render(RequestContext(request, {"request": request}))


class TestPanelTag:
    def test_panel_tag_draws_panel_styles_and_script_on_any_page(self, request_of):
        html = draw(request_of())

        assert one_with(html, id="aia")["data-state"] == "closed"
        assert one_with(html, id="aia-launcher")
        assert one_with(html, id="aia-boot")
        assert "ai_assistant/panel.css" in html
        assert html.index('id="aia"') < html.index("<p>A</p>")

    def test_middleware_adds_no_second_one(self, request_of):
        request = request_of("/admin/")
        request.resolver_match = ResolverMatch(
            lambda: None, (), {}, url_name="index", app_names=["admin"]
        )
        page = draw(request)

        passed = AssistantMiddleware(lambda _: HttpResponse(page))(request)

        assert passed.content.decode() == page
        assert len(all_with(page, id="aia")) == 1

    @pytest.mark.parametrize("path", ["/shop/?_popup=1", "/shop/?_to_field=id"])
    def test_popup_has_none(self, request_of, path):
        assert "aia" not in draw(request_of(path))

    def test_frame_has_none(self, request_of):
        assert "aia" not in draw(request_of(HTTP_SEC_FETCH_DEST="iframe"))

    def test_nobody_sees_it_who_may_not(self, request_of):
        assert "aia" not in draw(request_of(user=AnonymousUser()))

    def test_nothing_while_it_is_off(self, request_of, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "ENABLED": False}

        assert "aia" not in draw(request_of())

    def test_panel_tag_wants_the_request(self):
        expected = "{% ai_assistant %} found no request in the template's context."

        with pytest.raises(ImproperlyConfiguredAssistant, match=re.escape(expected)):
            Template(PAGE).render(Context())
