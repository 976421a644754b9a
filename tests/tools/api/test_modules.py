"""A module chooses API operations: nothing else is found, told or called on its pages."""

from dataclasses import replace
from typing import ClassVar

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ai_assistant import ContextModule, register
from ai_assistant.configuration.problems.stored import module_problems
from ai_assistant.configuration.setup import _of_runs
from ai_assistant.configuration.transfer.applied import apply
from ai_assistant.configuration.transfer.document import read, written
from ai_assistant.engine.execution.prompt import next_prompt
from ai_assistant.models import Module, PolicyRule
from ai_assistant.providers.litellm import LiteLLMProvider
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply, run_assistant
from ai_assistant.types import ToolDefinition
from tests.library.models import Tag
from tests.model_server import ModelServer, scripts

pytestmark = [pytest.mark.django_db, pytest.mark.row("M01")]

ADD = reverse("admin:ai_assistant_module_add")
GROUPS = "/admin/auth/group/"
MODEL = "openai/scripted"


class AtServer(LiteLLMProvider):
    """Asks the model of its own profile, in a run whose profile is played."""

    def stream(self, request):
        base = self.profile["API_BASE"]
        return super().stream(replace(request, model=MODEL, api_base=base))


@pytest.fixture
def made():
    """A row that makes a module for the pages of groups."""

    def make(*operations, **changed):
        chosen = "\n".join(operations)
        values = {"pages": "auth.group", "api_operations": chosen, **changed}
        return Module.objects.create(name="teams", **values)

    return make


@pytest.fixture
def of_code():
    """A module of an app that chooses operations."""

    class TeamsModule(ContextModule):
        matches: ClassVar = ["admin:auth_group_*"]
        api_operations: ClassVar = ["tags.*", "!tags.destroy"]

    with registry.restored():
        register(TeamsModule)
        yield


def play(user, *replies, page=GROUPS):
    return run_assistant(user, page, "Please", replies=[*replies, "Done."])


class TestNarrowing:
    def test_other_operation_is_refused_and_changes_nothing(
        self, opt_in, boss, made, library
    ):
        """The whole way: real requests to a real server, asked for by its model."""
        opt_in("tags.*", "books.list")
        made("tags.list", "tags.retrieve")
        with ModelServer() as server:
            named = {"operation": "tags.create", "body": {"name": "new"}}
            server.script(
                "default",
                [
                    [scripts.call("search_api", {"text": "create a tag"})],
                    [scripts.call("search_api", {"operation": "tags.create"})],
                    [scripts.call("call_api", named)],
                    [scripts.call("call_api", {"operation": "tags.list"})],
                    [scripts.call("call_api", {"operation": "tags.list"})],
                    [scripts.text("Done.")],
                ],
            )
            provider = AtServer({"MODEL": MODEL, "API_BASE": server.base})
            played = run_assistant(boss, GROUPS, "Tag it", provider=provider)
            prompt = server.log()[0].request["messages"][0]["content"]
        assert (played.state, played.error) == ("succeeded", "")

        found, described, refused, looked_up, listed = played.calls
        assert "- tags: tags.list, tags.retrieve" in prompt
        assert "books.list" not in prompt
        assert "tags.create" not in str(found.data)
        for one in (described, refused):
            assert one.error_type == "retry"
            assert "the module of the page leaves it out" in one.read_by_model
        assert looked_up.error_type == "undescribed"
        assert [one["name"] for one in listed.data["rows"]] == ["sea", "old"]
        assert not Tag.objects.filter(name="new").exists()
        assert not played.interrupts  # nobody is asked what is refused

    def test_other_pages_have_all_of_it(self, opt_in, boss, made):
        opt_in("tags.list", "books.list")
        made("tags.list")

        assert "- books: books.list" in play(boss, page="/admin/auth/user/").prompt
        assert "books" not in play(boss).prompt

    def test_row_brings_the_tools_for_it_beside_those_that_it_chooses(
        self, opt_in, boss, made
    ):
        opt_in("tags.list", "books.list")
        row = made("tags.list", tools="search_objects")

        assert {"search_api", "call_api"} < {*play(boss).offered}

        row.api_operations = ""
        row.save()
        assert "call_api" not in play(boss).offered

    def test_without_an_operation_there_are_no_tools(self, opt_in, boss, made):
        opt_in("tags.list")
        made("gone.list")

        played = play(boss)

        assert not {"search_api", "call_api"} & {*played.offered}
        assert "The site's own API" not in played.prompt

    def test_prompt_costs_no_query_more(self, opt_in, boss, made):
        opt_in("tags.*")
        row = made()

        def queries():
            next_prompt(boss, GROUPS)  # rows are read again after a change
            with CaptureQueriesContext(connection) as asked:
                text = str(next_prompt(boss, GROUPS))
            return len(asked), "tags.destroy" in text

        before, had = queries()
        row.api_operations = "tags.list"
        row.save()

        assert queries() == (before, False)
        assert had

    def test_rule_denies_it_there(self, opt_in, boss, made):
        opt_in("tags.list")
        made("tags.list", tools="search_objects")
        PolicyRule.objects.create(tools="call_api", decision="deny", module="teams")

        assert "call_api" not in play(boss).offered

    def test_row_takes_out_of_what_code_has_and_adds_nothing(
        self, opt_in, boss, of_code
    ):
        opt_in("tags.*", "books.list")
        listed = reply("", call("search_api", {"service": "tags"}))

        def operations():
            found = play(boss, listed).calls[0].data["operations"]
            return {one["operation"].partition(".")[2] for one in found}

        all_but_one = {"list", "create", "retrieve", "update", "partial_update"}
        assert operations() == all_but_one

        row = Module.objects.create(name="teams", api_operations="*\n!tags.*update")
        assert operations() == {"list", "create", "retrieve"}

        row.is_active = False
        row.save()
        assert operations() == all_but_one

    def test_run_in_another_process_keeps_it(self, opt_in, boss, made):
        opt_in("tags.*")
        row = made("tags.list")
        look = reply("", call("search_api", {"operation": "tags.destroy"}))

        def move():
            row.api_operations = "tags.destroy"
            row.save()
            _of_runs.clear()
            return "moved"

        tool = {"effect": "read", "description": "Move.", "label": "Move"}
        with registry.temporarily(
            ToolDefinition.of(name="move", handler=move, origin="shop", **tool)
        ):
            played = play(boss, reply("", call("move")), look)

        assert "leaves it out" in played.calls[1].read_by_model


def posted(*operations, **fields):
    values = {"name": "people", "pages": "auth.user", "priority": "0", "label": ""}
    chosen = {"api_operations": list(operations)}
    return {**values, "is_active": "on", **chosen, **fields}


def errors_of(response):
    form = response.context["adminform"].form
    return " ".join(form.errors.get("api_operations", ()))


class TestForm:
    def test_what_is_chosen_is_stored_and_shown(self, opt_in, admin_client):
        opt_in("tags.*", "books.list")

        answer = admin_client.post(ADD, posted("tags.*", "!tags.destroy"))

        assert answer.status_code == 302
        row = Module.objects.get()
        assert row.api_operations.split() == ["tags.*", "!tags.destroy"]
        url = reverse("admin:ai_assistant_module_change", args=[row.pk])
        page = admin_client.get(url)
        choices = dict(page.context["adminform"].form.fields["api_operations"].choices)
        assert choices["books.list"] == "books.list (GET /api-site/books/)"
        assert choices["!tags.destroy"] == "!tags.destroy (leaves out 1)"
        assert page.context["operations"]["count"] == 5

    @pytest.mark.parametrize(
        ("operations", "sentence"),
        [
            (["tags.(x"], "“tags.(x” is no operation."),
            (["a*b*c*d*e*f*g"], "Write a shorter pattern."),
            (["gone.list"], "There is no API operation “gone.list” any more."),
            (["books.list"], "The site has not opted in “books.list”."),
            (["!tags.list"], "This only leaves out."),
        ],
    )
    def test_what_cannot_be_is_said_at_the_field(
        self, opt_in, admin_client, operations, sentence
    ):
        opt_in("tags.*")

        answer = admin_client.post(ADD, posted(*operations))

        assert sentence in errors_of(answer)
        assert not Module.objects.exists()

    def test_it_is_tried_at_once(self, opt_in, admin_client, of_code):
        opt_in("tags.*", "books.list")
        tried = reverse("admin:ai_assistant_module_operations")

        chosen = {"name": "teams", "chosen": ["books.*", "tags.list", "gone"]}
        page = admin_client.get(tried, chosen).content.decode()

        # Its code leaves books out.
        assert "This operation:" in page
        assert "tags.list (read)" in page
        assert "There is no API operation “gone” any more." in page

    def test_maker_chooses_what_they_may_call(self, opt_in, client):
        opt_in("books.*")
        maker = get_user_model().objects.create_user("grace", is_staff=True)
        names = ("add_module", "view_module", "view_user")
        maker.user_permissions.set(Permission.objects.filter(codename__in=names))
        client.force_login(maker)

        answer = client.post(ADD, posted("books.*"))

        assert "You may not call these yourself: books.create" in errors_of(answer)
        assert "books.list" not in errors_of(answer)
        PolicyRule.objects.create(tools="call_api", decision="deny")
        answer = client.post(ADD, posted("books.list"))
        assert "“call_api” is denied to you here." in errors_of(answer)
        PolicyRule.objects.all().delete()
        assert client.post(ADD, posted("books.list")).status_code == 302


class TestLater:
    def test_operation_that_has_gone_is_told(self, opt_in, made, admin_client):
        opt_in("tags.*")
        made("tags.list", "tags.lend")

        said = "There is no API operation “tags.lend” any more. Leave it out."
        # As the doctor does.
        assert [one.text for one in module_problems()] == [said]
        start = reverse("admin:app_list", args=["ai_assistant"])
        assert said in admin_client.get(start).content.decode()

    def test_file_carries_it(self, opt_in, made):
        opt_in("tags.*")
        made("tags.*", "!tags.destroy")
        text = written()
        Module.objects.all().delete()

        assert apply(read(text), name="x").problems == []
        assert Module.objects.get().api_operations == "tags.*\n!tags.destroy"

        Module.objects.all().delete()
        opt_in("books.*")
        (problem,) = apply(read(text), name="y").problems
        assert "api_operations: The site has not opted in “tags.*”." in problem
