"""What is registered, and which of it a user has on a page."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.urls import clear_url_caches, reverse

from ai_assistant import conf
from ai_assistant.configuration.registered import names_registered
from ai_assistant.models import Instruction, Module, PolicyRule, PromptCommand, Skill
from ai_assistant.registry import registry
from ai_assistant.testing import run_assistant
from ai_assistant.tools.manifest import compute_tool_version
from tests.web.rest.program import API

pytestmark = pytest.mark.django_db

PAGE = reverse("admin:ai_assistant_module_registered")
GROUPS = "/admin/auth/group/"
USES = ("view_assistant", "use_assistant")


def person(name, *codenames):
    user = get_user_model().objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return user


def kinds_of(response):
    return {
        kind["name"]: {part["name"]: part for part in kind["parts"]}
        for kind in response.context["kinds"]
    }


class TestAll:
    def test_each_has_its_source_and_where_it_applies(self, admin_client):
        Skill.objects.create(name="refund", description="Money.", body="Ask.")
        Module.objects.create(name="teams", pages="auth.group", label="Teams")

        kinds = kinds_of(admin_client.get(PAGE))

        remember = kinds["tools"]["remember"]
        assert remember["source"].startswith("tests/testapp/assistant.py:")
        assert remember["effect"] == "read"
        version = compute_tool_version(registry.tool("remember"))
        assert version.startswith(remember["version"])
        assert len(remember["version"]) == 12
        assert "key" in remember["schema"]["properties"]
        assert kinds["skills"]["refund"]["source"] == "made here"
        assert kinds["modules"]["teams"]["where"] == "pages auth.group"
        assert {*kinds["tools"]} == {*registry.tools()}

    def test_command_whose_schema_is_broken_is_listed(self, admin_client):
        PromptCommand.objects.create(name="half", text="x", arguments=[1, 2])

        kinds = kinds_of(admin_client.get(PAGE))

        assert kinds["commands"]["half"]["schema"] == {}

    def test_source_is_for_superusers(self, client):
        client.force_login(person("eva", "view_module"))

        kinds = kinds_of(client.get(PAGE))

        assert kinds["tools"]["remember"]["source"] == ""


class TestHere:
    def test_it_is_what_a_message_then_has(self, client):
        eva = person("eva", *USES, "view_group", "view_module")
        Instruction.objects.create(name="here", text="Here.", model="auth.group")
        Instruction.objects.create(name="there", text="There.", model="auth.user")
        PolicyRule.objects.create(tools="list_models", decision="deny")
        client.force_login(eva)

        page = client.get(PAGE, {"user": "eva", "path": GROUPS})

        kinds = kinds_of(page)
        offered = run_assistant(eva, GROUPS, "Hi", replies=["Hello."]).offered
        assert {*offered} <= {*kinds["tools"]}
        assert "list_models" not in kinds["tools"]
        assert "delete_objects" not in offered
        assert "here" in kinds["instructions"]
        assert "there" not in kinds["instructions"]
        assert page.context["here"].module == "admin-list"

    @pytest.mark.parametrize(
        ("held", "is_shown"), [((), False), (("view_prompts",), True)]
    )
    def test_others_are_for_who_may_see_what_they_are_told(
        self, client, held, is_shown
    ):
        person("bob", *USES, "view_group")
        client.force_login(person("eva", *USES, "view_module", *held))

        page = client.get(PAGE, {"user": "bob", "path": GROUPS})

        assert (page.context["here"] is not None) is is_shown
        needs = "For others you need the permission"
        assert (needs in page.content.decode()) is not is_shown
        nobody = client.get(PAGE, {"user": "nobody", "path": GROUPS})
        assert (needs in nobody.content.decode()) is not is_shown


@pytest.mark.row("Y03")
class TestOperations:
    """The operations of the site's API: all of them, and why one is not called."""

    @pytest.fixture(autouse=True)
    def _site(self, settings):
        settings.ROOT_URLCONF = "tests.tools.api.site"
        chosen = ["books.*", "count-words.post", "mailing.post", "!books.some"]
        own = {"API_OPERATIONS": [*chosen, "elsewhere.*"]}
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, own)
        clear_url_caches()
        yield
        clear_url_caches()

    def test_each_says_whether_it_is_called(
        self, admin_client, django_assert_num_queries
    ):
        admin_client.get(PAGE)
        with django_assert_num_queries(2):  # the session and the user
            answer = admin_client.get(PAGE)

        found = kinds_of(answer)["operations"]
        listed = found["books.list"]
        assert listed["request"] == "GET /api-site/books/"
        assert (listed["effect"], listed["is_declared"]) == ("read", False)
        assert listed["where"] == "IsAuthenticated, OwnBooks"
        assert listed["package"] == "rest_framework"
        assert listed["source"].startswith("tests/tools/api/site.py:")
        assert "status" in listed["schema"]["query"]
        assert found["count-words.post"]["is_declared"]
        on = {name for name, one in found.items() if one["is_on"]}
        assert {"books.lend", "mailing.post"} < on
        assert [*found][: len(on)] == sorted(on)

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("tags.list", "No pattern names it."),
            ("books.some", "Left out by a pattern with “!”."),
            ("purging.purge", "Nobody has said what it does."),
            ("key.post", "Never: it signs in or out"),
            ("elsewhere.get", "Only by its full name: its authenticators accept no"),
        ],
    )
    def test_why_one_is_not(self, admin_client, name, why):
        page = admin_client.get(PAGE)

        assert why in kinds_of(page)["operations"][name]["why"]
        assert why in page.content.decode()

    def test_here_are_those_that_the_user_may_call_in_the_module(self, client):
        eva = person("eva", *USES, "view_group", "view_module")
        client.force_login(eva)

        def here():
            page = client.get(PAGE, {"user": "eva", "path": GROUPS})
            return {*kinds_of(page)["operations"]}

        # To change books needs a permission.
        assert here() == {
            *("books.list", "books.retrieve", "count-words.post", "mailing.post")
        }
        row = Module.objects.create(
            name="teams", pages="auth.group", api_operations="books.*"
        )
        assert here() == {"books.list", "books.retrieve"}
        row.tools, row.api_operations = "search_objects", ""
        row.save()
        assert here() == set()

    def test_rest_and_doctor_tell_what_is_called(self, client):
        client.force_login(person("eva", *USES))

        told = client.get(f"{API}registry/").json()

        (listed, *_more) = told["operations"]
        assert listed == {
            "name": "books.list",
            "method": "GET",
            "path": "/api-site/books/",
            "effect": "read",
            "description": "List: The books of the library.",
        }
        names = names_registered()["operations"]
        assert "books.create" not in {one["name"] for one in told["operations"]}
        assert {"books.create", "books.list"} < {*names}
        assert not {"books.some", "tags.list"} & {*names}


class TestPermissions:
    @pytest.mark.parametrize(
        ("held", "status"),
        [((), 403), ((*USES, "view_prompts"), 403), (("view_module",), 200)],
    )
    def test_page_asks_for_its_permission(self, client, held, status):
        client.force_login(person("eva", *held))

        assert client.get(PAGE).status_code == status

    def test_start_page_names_broken_modules_and_links_it(self, client):
        row = Module.objects.create(name="teams", pages="auth.group", tools="vanished")
        client.force_login(person("eva", "view_module"))

        page = client.get(reverse("admin:app_list", args=["ai_assistant"]))

        said = page.content.decode()
        assert PAGE in said
        assert "There is no tool “vanished” any more." in said
        assert reverse("admin:ai_assistant_module_change", args=[row.pk]) in said
