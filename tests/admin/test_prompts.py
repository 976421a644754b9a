"""What the model is told: for any user and page, and at each of its calls."""

from html import unescape

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.urls import reverse

from ai_assistant.models import (
    AuditEntry,
    Instruction,
    Module,
    PolicyRule,
    PromptCommand,
    Run,
)
from ai_assistant.testing import run_assistant

pytestmark = pytest.mark.django_db

PAGE = reverse("admin:ai_assistant_run_prompt")
GROUPS = "/admin/auth/group/"
USES = ("view_assistant", "use_assistant")


def person(name, *codenames):
    user = get_user_model().objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return user


@pytest.fixture
def grace():
    return person("grace", *USES, "view_prompts", "view_run")


@pytest.fixture
def eva():
    return person("eva", *USES, "view_group")


@pytest.fixture
def look(client, grace):
    """Ask as Grace for what the model is told."""
    client.force_login(grace)

    def ask(**query):
        return client.get(PAGE, {"user": "eva", "path": GROUPS, "text": "Hi", **query})

    return ask


class TestLook:
    def test_prompt_of_another_user_part_by_part(self, look, eva):
        Instruction.objects.create(name="tone", text="Be brief.", model="auth.group")
        Module.objects.create(name="admin-list", text="Lists are long.")

        page = look()

        parts = {one["id"]: one for one in page.context["look"]["prompt"]["parts"]}
        assert parts["instruction:tone"]["text"] == "Be brief."
        assert parts["instruction:tone"]["source"] == "row"
        assert "Lists are long." in parts["module"]["text"]
        assert parts["module"]["tokens"] > 0
        assert page.context["look"]["message"] == "Hi"
        assert not Run.objects.exists()

    def test_tools_are_those_of_that_user_with_what_is_decided(self, look, eva):
        group = Group.objects.create(name="Trainees")
        eva.groups.add(group)
        PolicyRule.objects.create(
            tools="search_objects", decision="ask", group=group, reason="new here"
        )

        tools = {one["name"]: one for one in look().context["look"]["tools"]}

        assert tools["search_objects"]["effect"] == "read"
        said = tools["search_objects"]["verdict"].reason
        assert said == "Asks because of a rule for group Trainees: new here."
        assert "model" in tools["search_objects"]["parameters"]["properties"]

    def test_it_is_what_a_message_then_gets(self, look, eva):
        told = look().context["look"]

        played = run_assistant(eva, GROUPS, "Hi", replies=["Hello."])

        parts = told["prompt"]["parts"]
        # The time of day is one of the parts.
        shown = [unescape(one["text"]) for one in parts if one["id"] != "run"]
        assert [text for text in shown if text not in played.prompt] == []
        assert [one["name"] for one in told["tools"]] == played.offered

    def test_what_was_left_out_is_said_before_and_afterwards(self, client, look, eva):
        for number in range(4):
            Instruction.objects.create(
                name=f"n{number}", text=str(number) * 3000, priority=number
            )
        said = "Left out, since there was no room: instruction:n1, instruction:n0"

        assert said in " ".join(look().content.decode().split())

        run = run_assistant(eva, GROUPS, "Hi", replies=["Hello."]).run
        sent = client.get(reverse("admin:ai_assistant_run_prompts", args=[run.pk]))
        assert said in " ".join(sent.content.decode().split())

    def test_command_is_expanded(self, look, eva):
        PromptCommand.objects.create(name="sum", text="Sum up {{ arguments }}.")

        page = look(text="/sum all groups")

        assert page.context["look"]["message"] == "Sum up all groups."

    def test_secret_is_not_shown(self, look, eva):
        secret = "sk-" + "a1B2" * 12
        Instruction.objects.create(name="key", text=f"The key is {secret}.")

        told = look(text=f"Use {secret}").context["look"]

        assert "The key is" in str(told["prompt"])
        assert secret not in str(told)

    @pytest.mark.parametrize(
        ("query", "sentence"),
        [
            ({"user": "nobody"}, "There is no user “nobody”."),
            ({"user": "bob"}, "“bob” may not use the assistant."),
            ({"path": "https://evil.example/"}, "Write the path of a page"),
        ],
    )
    def test_what_cannot_be_is_said_at_its_field(self, look, eva, query, sentence):
        person("bob")

        page = look(**query)

        assert sentence in page.content.decode()
        assert page.context["look"] == {}

    def test_look_at_another_user_is_audited_and_at_oneself_is_not(self, look, eva):
        look(user="grace")
        look()

        entry = AuditEntry.objects.get(action="prompt.viewed")
        assert (entry.details["of"], entry.details["page"]) == (str(eva.pk), GROUPS)


class TestSent:
    def test_each_model_call_has_what_was_sent(self, client, grace, eva):
        Instruction.objects.create(name="tone", text="Be brief.")
        run = run_assistant(eva, GROUPS, "Hi", replies=["Hello."]).run
        Instruction.objects.update(text="Be long.")
        client.force_login(grace)
        url = reverse("admin:ai_assistant_run_prompts", args=[run.pk])

        page = client.get(url).content.decode()

        assert "Model call 1" in page
        assert "Be brief." in page
        trace = client.get(reverse("admin:ai_assistant_run_change", args=[run.pk]))
        assert url in trace.content.decode()
        assert AuditEntry.objects.filter(action="prompt.viewed").count() == 1

    def test_link_is_for_who_may_open_it(self, client, eva):
        run = run_assistant(eva, GROUPS, "Hi", replies=["Hello."]).run
        client.force_login(person("olaf", *USES, "view_run"))

        trace = client.get(reverse("admin:ai_assistant_run_change", args=[run.pk]))

        url = reverse("admin:ai_assistant_run_prompts", args=[run.pk])
        assert trace.status_code == 200
        assert url not in trace.content.decode()


class TestPermissions:
    @pytest.mark.parametrize(
        ("held", "statuses"),
        [
            ((), (403, 403)),
            (USES, (403, 403)),
            ((*USES, "view_run"), (403, 403)),
            (("view_prompts",), (403, 403)),
            ((*USES, "view_prompts"), (200, 403)),
            ((*USES, "view_prompts", "view_run"), (200, 200)),
        ],
    )
    def test_each_page_asks_for_its_permissions(self, client, eva, held, statuses):
        run = run_assistant(eva, GROUPS, "Hi", replies=["Hello."]).run
        client.force_login(person("olaf", *held))

        urls = (PAGE, reverse("admin:ai_assistant_run_prompts", args=[run.pk]))
        assert tuple(client.get(url).status_code for url in urls) == statuses

    def test_off_there_are_none(self, admin_client, settings):
        settings.AI_ASSISTANT = {"ENABLED": False}

        assert admin_client.get(PAGE).status_code == 403

    def test_start_page_links_it(self, client, grace):
        client.force_login(grace)

        page = client.get(reverse("admin:app_list", args=["ai_assistant"]))

        assert PAGE in page.content.decode()
