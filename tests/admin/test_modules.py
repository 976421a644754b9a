"""The pages of modules: what is wrong is said at the field, and what is decided is shown."""

from dataclasses import replace
from typing import ClassVar

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.urls import reverse

from ai_assistant import ContextModule, register
from ai_assistant.admin.modules.form import OFFERED, ModuleRowForm
from ai_assistant.models import Agent, AuditEntry, Module, PolicyRule
from ai_assistant.providers.litellm import LiteLLMProvider
from ai_assistant.registry import registry
from ai_assistant.testing import run_assistant
from ai_assistant.types import ToolDefinition
from tests.model_server import ModelServer
from tests.model_server.scripts import text

pytestmark = pytest.mark.django_db

MODEL = "openai/scripted"
LIST = reverse("admin:ai_assistant_module_changelist")
ADD = reverse("admin:ai_assistant_module_add")
PAGES = reverse("admin:ai_assistant_module_pages")


class AtServer(LiteLLMProvider):
    """Asks the model of its own profile, in a run whose profile is played."""

    def stream(self, request):
        base = self.profile["API_BASE"]
        return super().stream(replace(request, model=MODEL, api_base=base))


@pytest.fixture
def staff(client):
    """Sign in a staff user with these permissions."""

    def sign_in(*codenames):
        user = get_user_model().objects.create_user("grace", is_staff=True)
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def ada():
    return get_user_model().objects.create_superuser("ada", password="x")


@pytest.fixture
def orders():
    """A module of an app, with a tool that needs a permission."""

    class TeamsModule(ContextModule):
        label = "Teams"
        matches: ClassVar = ["admin:auth_group_*"]
        tools: ClassVar = ["dissolve"]
        features: ClassVar = {"lock": True}

    dissolve = ToolDefinition.of(
        name="dissolve",
        handler=print,
        effect="write",
        description="Dissolve.",
        label="Dissolve",
        permission="auth.delete_group",
        policy="ask",
        origin="tests",
    )
    with registry.temporarily(dissolve):
        register(TeamsModule)
        yield


def posted(**fields):
    values = {"name": "people", "pages": "auth.user", "priority": "0", "label": ""}
    return {**values, "is_active": "on", **fields}


def errors_of(response):
    form = response.context["adminform"].form
    return {name: " ".join(said) for name, said in form.errors.items()}


class TestMade:
    def test_module_made_in_the_form_is_in_the_next_message(self, admin_client, ada):
        fields = posted(
            text="People here.", tools=["search_objects", "get_object"], steps="3"
        )

        answer = admin_client.post(ADD, fields)

        assert answer.status_code == 302
        played = run_assistant(ada, "/admin/auth/user/", "Hello", replies=["Hi."])
        assert "People here." in played.prompt
        assert played.run.module == "people"
        assert Module.objects.get().limits == {"steps": 3}
        assert "change_object" not in played.offered
        assert LogEntry.objects.get().object_repr == "people"
        assert AuditEntry.objects.filter(action="settings.added").exists()

    def test_request_to_a_real_server_has_its_words_and_tools(self, admin_client, ada):
        fields = posted(text="People here.", tools=["search_objects"])
        assert admin_client.post(ADD, fields).status_code == 302

        with ModelServer() as server:
            server.script("default", [text("Hello.")])
            provider = AtServer({"MODEL": MODEL, "API_BASE": server.base})
            played = run_assistant(ada, "/admin/auth/user/", "Hi", provider=provider)
            request = server.log()[-1].request

        assert played.text == "Hello."
        assert "People here." in request["messages"][0]["content"]
        names = {one["function"]["name"] for one in request["tools"]}
        assert "search_objects" in names
        assert "change_object" not in names

    @pytest.mark.parametrize(
        ("fields", "field", "sentence"),
        [
            ({"pages": ""}, "pages", "Say on which pages it is."),
            ({"pages": "admin:(x"}, "pages", "“admin:(x” is no page."),
            ({"pages": "a*b*c*d*e*f*g"}, "pages", "Write a shorter pattern."),
            ({"pages": "shop.nothing"}, "pages", "No page of this site fits"),
            ({"name": "default"}, "name", "stands for pages without a module"),
            ({"name": "No Id"}, "name", "Use lower-case letters"),
            ({"tools": ["vanished"]}, "tools", "There is no tool “vanished” any more."),
            ({"data_models": ["shop.nothing"]}, "data_models", "“shop.nothing”"),
            ({"actions": ["auth.user.fly"]}, "actions", "“auth.user.fly”"),
            ({"agent": "gone"}, "agent", "There is no agent “gone” any more."),
            ({"profile": "gone"}, "profile", "There is no profile “gone” any more."),
            (
                {"read_only_permission": "auth.fly"},
                "read_only_permission",
                "There is no permission “auth.fly”.",
            ),
            (
                {"read_only_field": "colour", "read_only_values": "red"},
                "read_only_field",
                "None of its pages has a “colour”.",
            ),
            (
                {"read_only_field": "password", "read_only_values": "red"},
                "read_only_field",
                "is kept from the assistant",
            ),
            (
                {"read_only_field": "is_active"},
                "read_only_values",
                "A field and its values belong together.",
            ),
            (
                {"feature_read_only_guard": "off"},
                "feature_read_only_guard",
                "only code may let it be switched off",
            ),
            ({"feature_rollback": "on"}, "feature_rollback", "has no snapshots"),
            ({"steps": "0"}, "steps", "greater than or equal to 1"),
            ({"usd": "-1"}, "usd", "greater than or equal to 0.0001"),
        ],
    )
    def test_what_cannot_be_is_said_at_its_field(
        self, admin_client, fields, field, sentence
    ):
        answer = admin_client.post(ADD, posted(**fields))

        assert sentence in errors_of(answer)[field]
        assert not Module.objects.exists()

    def test_limit_of_costs_needs_a_price(self, admin_client, settings):
        profiles = {"default": {"MODEL": "openai/nobody-knows"}}
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "PROFILES": profiles}

        answer = admin_client.post(ADD, posted(usd="0.5"))

        assert "limit tokens instead" in errors_of(answer)["usd"]

    def test_agent_that_leaves_the_module_out_is_refused(self, admin_client):
        Agent.objects.create(name="clerk", modules="orders")

        answer = admin_client.post(ADD, posted(agent="clerk"))

        assert "works without this module" in errors_of(answer)["agent"]

    def test_two_that_fit_equally_are_named_until_one_has_priority(self, admin_client):
        Module.objects.create(name="others", pages="auth.user")

        answer = admin_client.post(ADD, posted())

        assert (
            "The module “others” fits some pages equally" in errors_of(answer)["pages"]
        )
        assert admin_client.post(ADD, posted(priority="1")).status_code == 302

    def test_pages_of_a_module_of_an_app_stay_with_it(self, admin_client, orders):
        answer = admin_client.post(ADD, posted(pages="auth.group"))

        assert "have a module already: teams" in errors_of(answer)["pages"]

    def test_off_what_is_gone_can_be_kept(self, admin_client):
        fields = posted(tools=["vanished"])
        del fields["is_active"]

        assert admin_client.post(ADD, fields).status_code == 302


class TestMaker:
    """A module has no tool that its maker may not use."""

    MAKER = ("add_module", "view_module", "view_group", "view_user")

    def test_tool_without_its_permission_is_refused(self, staff, orders):
        answer = staff(*self.MAKER).post(ADD, posted(tools=["dissolve"]))

        assert (
            "You may not use “dissolve” yourself: that needs the permission "
            "“auth.delete_group”." in errors_of(answer)["tools"]
        )
        assert not Module.objects.exists()

    def test_with_it_the_tool_is_taken(self, staff, orders):
        client = staff(*self.MAKER, "delete_group")

        assert client.post(ADD, posted(tools=["dissolve"])).status_code == 302

    def test_tool_that_is_denied_to_the_maker_is_refused(self, staff):
        client = staff(*self.MAKER)
        group = Group.objects.create(name="Trainees")
        get_user_model().objects.get(username="grace").groups.add(group)
        PolicyRule.objects.create(tools="list_models", decision="deny", group=group)

        answer = client.post(ADD, posted(tools=["list_models"]))

        assert "“list_models” is denied to you here." in errors_of(answer)["tools"]

    def test_model_that_the_maker_does_not_see_is_refused(self, staff):
        client = staff("add_module", "view_module", "view_user")

        answer = client.post(ADD, posted(data_models=["auth.group"]))

        assert "You see no “auth.group”" in errors_of(answer)["data_models"]


class TestOfCode:
    def test_pages_are_those_of_its_code(self, admin_client, orders):
        answer = admin_client.post(ADD, posted(name="teams", pages="auth.user"))

        assert "An app has this module" in errors_of(answer)["pages"]
        assert admin_client.post(ADD, posted(name="teams", pages="")).status_code == 302

    def test_guard_of_its_code_stays_on(self, admin_client, orders):
        fields = posted(name="teams", pages="", feature_lock="off", feature_plan="off")

        answer = admin_client.post(ADD, fields)

        assert [*errors_of(answer)] == ["feature_lock"]

    def test_change_page_shows_what_is_decided_and_why(self, admin_client, orders):
        row = Module.objects.create(name="teams", tools="dissolve list_models")
        sales = Group.objects.create(name="Sales")
        PolicyRule.objects.create(
            tools="dissolve", decision="allow", module="teams", reason="we trust"
        )
        PolicyRule.objects.create(
            tools="list_models", decision="deny", module="teams", group=sales
        )

        url = reverse("admin:ai_assistant_module_change", args=[row.pk])
        page = admin_client.get(url).content.decode()

        assert "Asks because the tool requires approval." in page  # not loosened
        assert "Allowed because it only reads." in page
        assert "Denied for group Sales." in page
        assert "policyrule/add/?tools=dissolve&amp;module=teams" in page
        assert "policyrule/?module=teams" in page
        assert "Policy rules: 2" in page

    def test_form_has_each_feature(self):
        fields = {name for name in ModuleRowForm.base_fields if "feature_" in name}

        assert fields == {f"feature_{name}" for name in OFFERED}


class TestPages:
    def test_list_shows_all_modules_with_their_pages(self, admin_client, orders):
        Module.objects.create(name="teams", is_active=False)
        Module.objects.create(name="people", pages="auth.user")
        broken = Module.objects.create(name="broken", pages="auth.user")
        Module.objects.filter(pk=broken.pk).update(pages="(")

        page = admin_client.get(LIST)

        found = {one["id"]: one for one in page.context["modules"]}
        assert found["teams"]["is_on"] is False
        assert found["people"]["pages"]["count"] >= 5
        assert found["broken"]["is_broken"] is True
        assert found["admin-list"]["row"] is None
        assert "left out: it cannot be" in page.content.decode()

    def test_pages_are_tried_at_once(self, admin_client, orders):
        Module.objects.create(name="others", pages="admin:auth_user_change")
        query = {"name": "people", "pages": "auth.user\nauth.group\nshop.none"}

        page = admin_client.get(PAGES, query).content.decode()

        assert "Users: list" in page
        assert "Users: change" not in page  # that of the more specific one
        assert "have the module “teams” of an app" in page
        assert "No page of this site fits “shop.none”." in page

    @pytest.mark.parametrize(
        ("held", "statuses"),
        [
            ((), (403, 403, 403)),
            (("view_module",), (200, 403, 200)),
            (("add_module",), (403, 200, 200)),
            (("add_module", "view_module"), (200, 200, 200)),
            (("view_run", "view_prompts"), (403, 403, 403)),
        ],
    )
    def test_each_page_asks_for_its_permission(self, staff, held, statuses):
        client = staff(*held)

        found = tuple(client.get(url).status_code for url in (LIST, ADD, PAGES))
        assert found == statuses

    def test_off_there_are_none(self, admin_client, settings):
        settings.AI_ASSISTANT = {"ENABLED": False}

        found = [admin_client.get(url).status_code for url in (LIST, ADD, PAGES)]
        assert found == [403, 403, 403]
