"""The data tools of a site below a path: all there, as if it were at the root."""

import pytest
from django.urls import reverse, set_script_prefix

from ai_assistant import tool
from ai_assistant.context.page import page_info
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.testing import call as asks
from ai_assistant.testing import reply, run_assistant
from ai_assistant.tools.data.access.model_admin import find_access
from ai_assistant.tools.data.access.sites import are_enabled
from tests.tools.data.reading import call, context_of

DATA_TOOLS = {"search_objects", "get_object", "change_object"}


@pytest.fixture(params=["setting", "request"])
def _below_app(request, settings):
    """Below /app, by the setting as a thread finds it, or as a request is."""
    if request.param == "setting":
        settings.FORCE_SCRIPT_NAME = "/app"
    set_script_prefix("/app/")
    yield
    set_script_prefix("/")


@pytest.mark.usefixtures("_below_app")
class TestBelowAPath:
    def test_site_lets_the_user_in(self, boss):
        assert are_enabled(context_of(boss))

    def test_request_resolves_to_its_page(self, boss):
        request = find_access(context_of(boss), "library.book").request

        assert request.resolver_match.view_name == "admin:library_book_changelist"
        assert request.path == "/app/admin/library/book/"
        assert request.path_info == "/admin/library/book/"
        assert request.META["SCRIPT_NAME"] == "/app"

    def test_rows_are_found(self, boss, shop):
        assert call("search_objects", boss, model="library.book")["total"] == 2

    def test_page(self):
        assert page_info("/app/admin/library/book/").action == "changelist"
        assert page_info("/admin/library/book/").action == ""


@pytest.fixture
def _where():
    """Tools of the site that make an address, each in a thread of another kind."""

    def where() -> str:
        """Tell where the admin is."""
        return reverse("admin:index")

    async def awaited() -> str:
        """Tell where the admin is."""
        return reverse("admin:index")

    with registry.restored():
        tool(effect="read", name="where")(where)
        tool(effect="read", name="awaited")(awaited)
        tool(effect="read", name="later", background=True)(where)
        yield


@pytest.mark.usefixtures("_where")
@pytest.mark.parametrize("is_set", [True, False])
def test_run_is_offered_them(boss, shop, settings, is_set):
    # As in a server: what executes the run has no request around it.
    if is_set:
        settings.FORCE_SCRIPT_NAME = "/app"
    else:
        set_script_prefix("/app/")
    try:
        played = run_assistant(
            boss,
            "/app/admin/library/book/",
            "What is there?",
            replies=[
                reply("", asks("search_objects", {"model": "library.book"})),
                reply("", asks("where"), asks("awaited"), asks("later")),
                ".",
            ],
        )
    finally:
        set_script_prefix("/")

    assert set(played.offered) >= DATA_TOOLS
    assert [one.status for one in played.calls] == ["complete"] * 4
    assert [one.data for one in played.calls[1:]] == ["/app/admin/"] * 3
    assert Run.objects.get().script_prefix == "/app/"
