import pytest
from django.urls import reverse

import ai_assistant
from ai_assistant import ModelRetry
from ai_assistant.context.collect import collect_items
from ai_assistant.context.page import find_page
from ai_assistant.context.viewparts import names_of_views, registered_parts
from project.discover.demo.build import build
from project.discover.models import ExplorerQuery, LogLine
from project.discover.views import execute_query

PATH = "/admin/discover/logline/explore/"
pytestmark = pytest.mark.django_db


@pytest.fixture
def lines(db):
    build()


@pytest.fixture
def explorer(client, superuser):
    client.force_login(superuser)
    return lambda **query: client.get(PATH, query)


@pytest.mark.row("T23")
class TestExecuteQuery:
    def test_sets_and_runs(self, context, lines, explorer):
        told = execute_query(context, "level:error", description="Errors of the day")

        errors = LogLine.objects.filter(level="error")
        assert (told["executed"], told["total"]) == (True, errors.count())
        assert len(told["lines"]) == 10
        page = explorer()
        assert (page.context["query"], page.context["total"]) == (
            "level:error",
            errors.count(),
        )
        assert b"Errors of the day" in page.content

    def test_only_sets_the_query(self, context, lines, explorer):
        told = execute_query(context, "level:error", auto_execute=False)

        assert told == {"query": "level:error", "executed": False, "path": PATH}
        page = explorer()
        assert (page.context["query"], page.context["is_run"]) == ("level:error", False)
        assert b"has not been run" in page.content
        assert b"discover-total" not in page.content

    def test_execute_query_refuses_a_wrong_query(self, context, lines):
        with pytest.raises(ModelRetry, match="no field 'colour'"):
            execute_query(context, "colour:red", auto_execute=False)

        assert not ExplorerQuery.objects.exists()

    def test_execute_query_is_of_its_page_only(self):
        page = find_page(PATH)

        assert registered_parts(page.view, page.model_admin).tools == (execute_query,)
        assert "execute_query" in names_of_views()
        assert ai_assistant.registry.tool("execute_query").effect == "ui"


class TestExploreView:
    def test_runs_the_query_of_the_address(self, context, lines, explorer):
        execute_query(context, "level:error", auto_execute=False)

        page = explorer(q="level:info")

        assert page.context["total"] == LogLine.objects.filter(level="info").count()
        assert b'id="aia"' in page.content

    def test_explore_view_shows_what_is_wrong(self, lines, explorer):
        page = explorer(q='colour:"<b>"')

        assert "no field" in page.context["error"]
        assert b"<b>" not in page.content

    def test_each_user_has_an_own_query(self, context, lines, client, user):
        execute_query(context, "level:error")
        user.is_staff = True
        user.save()
        client.force_login(user)

        assert client.get(PATH).status_code == 403
        assert ExplorerQuery.objects.get().user == context.user

    def test_lines_are_only_looked_at(self, client, superuser, lines):
        client.force_login(superuser)

        page = client.get(reverse("admin:discover_logline_changelist"))
        added = client.get(reverse("admin:discover_logline_add"))

        assert (page.status_code, added.status_code) == (200, 403)


@pytest.mark.django_db(transaction=True)
class TestExploreContext:
    def item(self, context):
        found = [
            one for one in collect_items(context).items if one.id == "discover.query"
        ]
        return found[0] if found else None

    def test_explore_context_tells_query_and_lines(self, at, lines):
        item = self.item(at(f"{PATH}?q=level:error"))

        assert item.value["query"] == "level:error"
        assert len(item.value["lines"]) == 10
        assert "duration" in item.value["fields"]

    def test_explore_context_tells_that_a_query_was_not_run(self, at, context, lines):
        execute_query(context, "level:error", auto_execute=False)

        value = self.item(at(PATH)).value

        assert (value["query"], value["run"], "total" in value) == (
            "level:error",
            False,
            False,
        )

    def test_explore_context_tells_what_is_wrong(self, at, lines):
        assert "no field" in self.item(at(f"{PATH}?q=colour:red")).value["error"]

    def test_explore_context_is_kept_from_who_may_not_look(self, at, lines, user):
        assert self.item(at(PATH, user)) is None
