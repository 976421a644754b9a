"""Rows of configuration: previewed, duplicated, switched off, and brought back."""

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.urls import reverse

from ai_assistant.models import (
    Agent,
    AuditEntry,
    Budget,
    Instruction,
    Memory,
    PromptCommand,
    Skill,
)

FIRST = "\n".join(["1. Look at the orders."] * 200)  # more than the audit log keeps
pytestmark = [pytest.mark.django_db, pytest.mark.row("C11")]


def address(model, page="changelist", *arguments):
    name = f"admin:ai_assistant_{model._meta.model_name}_{page}"
    return reverse(name, args=arguments)


@pytest.fixture
def staff(client):
    """Sign in a staff user with these permissions."""

    def sign_in(*codenames):
        user, _new = get_user_model().objects.get_or_create(
            username="grace", is_staff=True
        )
        user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        client.force_login(user)
        return client

    return sign_in


def save(client, row, **fields):
    values = {"name": "weekly", "description": "How", "body": "1. Look.", "priority": 0}
    values |= {"is_active": "on", **fields}
    page = address(Skill, "change", row.pk) if row else address(Skill, "add")
    response = client.post(page, values)
    assert response.status_code == 302, response.context["errors"]
    return Skill.objects.latest("pk")


@pytest.fixture
def changed(admin_client):
    """A skill of two versions."""
    group = Group.objects.create(name="Sales")
    skill = save(admin_client, None, body=FIRST, group=group.pk)
    return save(admin_client, skill, body=f"{FIRST}\n2. Tell.", group="", is_active="")


def entries(row):
    return LogEntry.objects.filter(object_id=str(row.pk)).order_by("pk")


class TestHistory:
    def test_history_shows_who_changed_what(self, admin_client, changed):
        page = admin_client.get(address(Skill, "history", changed.pk)).content.decode()

        assert page.count('class="aia-version"') == 2
        assert "<ins>2. Tell.</ins>" in page.replace("\n", "")
        assert "<del>Sales</del>" in page
        assert page.count("Restore this") == 1  # of the version that is not now

    def test_restore_brings_back_all_of_it(self, admin_client, changed):
        first = entries(changed)[0]

        admin_client.post(address(Skill, "restore", changed.pk, first.pk))

        changed.refresh_from_db()
        assert changed.body == FIRST
        assert changed.group.name == "Sales"
        assert changed.is_active
        assert entries(changed).count() == 3
        assert "settings.changed" in AuditEntry.objects.latest("pk").action
        page = admin_client.get(address(Skill, "history", changed.pk)).content.decode()
        assert page.count("Restore this") == 1

    def test_restore_of_what_is_wrong_by_now_changes_nothing(
        self, admin_client, changed
    ):
        Group.objects.all().delete()
        first = entries(changed)[0]

        response = admin_client.post(
            address(Skill, "restore", changed.pk, first.pk), follow=True
        )

        told = [str(message) for message in response.context["messages"]]
        assert told[-1] == "group: There is no group “Sales” on this site."
        changed.refresh_from_db()
        assert changed.body.endswith("2. Tell.")

    def test_restore_is_checked_by_the_form_of_the_page(self, admin_client, changed):
        first = entries(changed)[0]
        message = json.loads(first.change_message)
        message[-1]["values"]["module"] = "gone"
        LogEntry.objects.filter(pk=first.pk).update(change_message=json.dumps(message))

        response = admin_client.post(
            address(Skill, "restore", changed.pk, first.pk), follow=True
        )

        told = [str(message) for message in response.context["messages"]]
        assert told[-1].startswith("module: There is no module “gone”.")
        changed.refresh_from_db()
        assert changed.body.endswith("2. Tell.")

    def test_restored_memory_is_of_the_words_of_who_restored_it(
        self, admin_client, admin_user, client, django_user_model
    ):
        client.force_login(django_user_model.objects.create_superuser("eva"))
        fields = {"text": "We close at six.", "for_everyone": "on"}
        client.post(address(Memory, "add"), fields)
        row = Memory.objects.get()
        page = address(Memory, "change", row.pk)
        client.post(page, {**fields, "text": "We close at five."})

        admin_client.post(address(Memory, "restore", row.pk, entries(row)[0].pk))

        row.refresh_from_db()
        assert (row.text, row.owner) == ("We close at six.", None)
        assert (row.author, row.words) == (admin_user, "user")

    def test_restore_needs_the_permission_and_a_version_of_this_row(
        self, staff, admin_client, changed
    ):
        first = entries(changed)[0]
        other = save(admin_client, None, name="other")
        there = address(Skill, "restore", changed.pk, first.pk)
        elsewhere = address(Skill, "restore", other.pk, first.pk)

        assert admin_client.get(there).status_code == 404
        assert admin_client.post(elsewhere).status_code == 404
        client = staff("view_skill")
        assert client.post(there).status_code == 403
        page = client.get(address(Skill, "history", changed.pk)).content.decode()
        assert "2. Tell." in page
        assert "Restore this" not in page

    def test_words_of_ones_own_are_in_no_version(self, staff):
        client = staff("view_assistant", "use_assistant")
        client.post(address(Memory, "add"), {"text": "I am shy."})

        message = LogEntry.objects.get().change_message
        assert "shy" not in message

    def test_budget_has_versions_too(self, admin_client):
        fields = {"scope": "site", "window": "day", "tokens": "1000"}
        admin_client.post(address(Budget, "add"), fields)
        own = Budget.objects.get()
        page = address(Budget, "change", own.pk)
        admin_client.post(page, {**fields, "tokens": "5"})

        admin_client.post(address(Budget, "restore", own.pk, entries(own)[0].pk))

        own.refresh_from_db()
        assert own.tokens == 1000


class TestList:
    def test_list_says_who_changed_a_row_or_from_which_file_it_is(
        self, admin_client, changed
    ):
        Skill.objects.create(
            name="filed", description="d", body="b", imported_from="deploy.yaml"
        )

        page = admin_client.get(address(Skill)).content.decode()

        assert 'class="field-changed">admin, ' in page
        assert 'class="field-changed">from deploy.yaml<' in page

    def test_row_that_is_changed_by_hand_is_no_more_of_the_file(self, admin_client):
        row = Skill.objects.create(
            name="filed", description="d", body="b", imported_from="deploy.yaml"
        )

        save(admin_client, row, name="filed", body="Changed.")

        row.refresh_from_db()
        assert row.imported_from == ""

    def test_rows_are_switched_off_and_on(self, admin_client, changed):
        def act(name):
            chosen = {"action": name, "_selected_action": [changed.pk]}
            admin_client.post(address(Skill), chosen)
            changed.refresh_from_db()
            return changed.is_active

        assert act("switch_on")
        assert not act("switch_off")
        assert entries(changed).count() == 4
        assert AuditEntry.objects.filter(action="settings.changed").count() == 3

    def test_who_only_views_switches_none(self, staff, changed):
        chosen = {"action": "switch_on", "_selected_action": [changed.pk]}
        staff("view_skill").post(address(Skill), chosen)

        changed.refresh_from_db()
        assert not changed.is_active

    def test_row_is_duplicated_under_another_name(self, admin_client, changed):
        fields = {"name": "copy", "description": "How", "body": "Same.", "priority": 0}
        page = address(Skill, "change", changed.pk)

        admin_client.post(page, {**fields, "_saveasnew": "1"})

        assert Skill.objects.get(name="copy").body == "Same."
        assert Skill.objects.get(pk=changed.pk).name == "weekly"


class TestPreview:
    def test_markdown_is_shown_as_it_reads_and_harmless(self, admin_client):
        body = "**Look** <script>alert(1)</script>"

        page = admin_client.post(address(Skill, "preview"), {"body": body})

        assert "<strong>Look</strong>" in page.content.decode()
        assert "<script>alert" not in page.content.decode()
        assert not Skill.objects.exists()

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("May short", "Sum up May as short."),
            ("/sum May style=long", "Sum up May as long."),
            ("", "needs: Period, Style."),
            ("/other", "This is not the line of this command."),
        ],
    )
    def test_arguments_of_a_command_are_tried(self, admin_client, line, told):
        schema = (
            '{"type": "object", "required": ["period", "style"], "properties": '
            '{"period": {"type": "string"}, "style": {"type": "string"}}}'
        )
        fields = {"name": "sum", "text": "Sum up {{ period }} as {{ style }}."}

        page = admin_client.post(
            address(PromptCommand, "preview"),
            {**fields, "arguments": schema, "_tried": line},
        ).content.decode()

        assert told in page
        assert "/sum &lt;period&gt; &lt;style&gt;" in page

    def test_schema_that_is_wrong_is_said(self, admin_client):
        fields = {"name": "sum", "text": "x", "arguments": '{"type": "banana"}'}

        page = admin_client.post(address(PromptCommand, "preview"), fields)
        assert 'class="errornote"' in page.content.decode()

    @pytest.mark.parametrize("schema", ['{"type": "banana"}', "[1, 2]"])
    def test_schema_that_is_wrong_is_refused_at_its_field(self, admin_client, schema):
        fields = {"name": "sum", "text": "x", "priority": "0", "arguments": schema}

        page = admin_client.post(address(PromptCommand, "add"), fields)

        errors = page.context["adminform"].form.errors["arguments"]
        assert "not of an object" in str(errors)
        assert not PromptCommand.objects.exists()

    def test_names_on_lines_of_a_file_stay_apart(self, admin_client):
        agent = Agent.objects.create(name="clerk", tools="get_object\nfind_tools\n")

        form = admin_client.get(address(Agent, "change", agent.pk)).content.decode()

        assert 'value="get_object find_tools"' in form

    def test_lines_end_as_in_a_file(self, admin_client):
        save(admin_client, None, body="1. Look.\r\n2. Tell.")

        assert Skill.objects.get().body == "1. Look.\n2. Tell."

    def test_preview_is_for_who_may_write(self, staff):
        assert staff("view_skill").post(address(Skill, "preview")).status_code == 403
        assert staff("add_skill").get(address(Skill, "preview")).status_code == 405

    @pytest.mark.parametrize("model", [Instruction, Skill, PromptCommand, Agent])
    def test_form_offers_it(self, admin_client, model):
        page = admin_client.get(address(model, "add")).content.decode()

        assert f'formaction="{address(model, "preview")}"' in page
