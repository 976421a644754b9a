"""What is registered, and which of it a user has on a page."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.urls import reverse

from ai_assistant.models import Instruction, Module, PolicyRule, Skill
from ai_assistant.registry import registry
from ai_assistant.testing import run_assistant

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
        assert "key" in remember["schema"]["properties"]
        assert kinds["skills"]["refund"]["source"] == "made here"
        assert kinds["modules"]["teams"]["where"] == "pages auth.group"
        assert {*kinds["tools"]} == {*registry.tools()}

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
