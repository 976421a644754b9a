"""The lists of calls, changes and the audit log."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.urls import reverse

from ai_assistant.admin.changes import field_difference
from ai_assistant.models import (
    AuditEntry,
    Budget,
    ChangeSet,
    Feedback,
    RowChange,
    ToolCall,
)
from ai_assistant.safety.audit import seal_all, verify

pytestmark = pytest.mark.django_db

LISTS = {"toolcall": ToolCall, "changeset": ChangeSet, "auditentry": AuditEntry}


@pytest.fixture
def staff(client):
    """Sign in a staff user with these permissions of the app."""

    def sign_in(*codenames):
        user, _new = get_user_model().objects.get_or_create(
            username="grace", is_staff=True
        )
        user.user_permissions.set(
            Permission.objects.filter(
                content_type__app_label="ai_assistant", codename__in=codenames
            )
        )
        client.force_login(user)
        return client

    return sign_in


def address(name, page="changelist", *arguments):
    return reverse(f"admin:ai_assistant_{name}_{page}", args=arguments)


class TestLists:
    @pytest.mark.parametrize("name", LISTS)
    def test_use_of_the_assistant_shows_none(self, staff, name):
        client = staff("view_assistant", "use_assistant", "view_run")

        assert client.get(address(name)).status_code == 403

    @pytest.mark.parametrize("name", LISTS)
    def test_view_shows_list_and_page(self, staff, told, name):
        told("ada")
        client = staff(f"view_{name}")
        row = LISTS[name].objects.order_by("pk")[0]

        for query in ({}, {"q": "ada"}):
            response = client.get(address(name), query)
            assert response.status_code == 200
            assert "ada" in response.content.decode()
        response = client.get(address(name, "change", row.pk))
        assert response.status_code == 200

    @pytest.mark.parametrize("name", LISTS)
    def test_superuser_adds_changes_and_deletes_none(self, admin_client, told, name):
        told("ada")
        row = LISTS[name].objects.order_by("pk")[0]

        assert admin_client.get(address(name, "add")).status_code == 403
        for page in ("change", "delete"):
            there = address(name, page, row.pk)
            assert admin_client.post(there, {"post": "yes"}).status_code == 403
        assert b"delete_selected" not in admin_client.get(address(name)).content

    @pytest.mark.parametrize("name", LISTS)
    def test_off_hides_them(self, admin_client, settings, name):
        settings.AI_ASSISTANT = {"ENABLED": False}

        assert admin_client.get(address(name)).status_code == 403

    @pytest.mark.parametrize("name", LISTS)
    def test_queries_do_not_grow_with_the_rows(
        self, admin_client, told, name, django_assert_max_num_queries
    ):
        for _ in range(12):
            told("ada")

        with django_assert_max_num_queries(16):
            admin_client.get(address(name))

    def test_conversation_takes_calls_along(self, admin_client, told):
        conversation = told("ada")
        page = address("conversation", "delete", conversation.pk)

        assert admin_client.post(page, {"post": "yes"}).status_code == 302
        assert not ToolCall.objects.exists()
        assert verify().findings == ()


class TestOutlive:
    """A change is still there when its conversation is deleted."""

    def test_page_of_deletion_says_so(self, admin_client, told):
        conversation = told("ada")
        page = address("conversation", "delete", conversation.pk)
        sentence = "The record of what was changed is kept."

        assert sentence in admin_client.get(page).content.decode()
        ChangeSet.objects.all().delete()
        assert sentence not in admin_client.get(page).content.decode()

    def test_list_and_page_still_say_who_when_what(self, admin_client, told):
        conversation = told("ada")
        page = address("conversation", "delete", conversation.pk)
        admin_client.post(page, {"post": "yes"})

        change = ChangeSet.objects.get()

        assert (change.run, change.call) == (None, None)
        for query in ({}, {"q": "ada"}, {"q": "mark_paid"}, {"tool": "mark_paid"}):
            shown = admin_client.get(address("changeset"), query).content.decode()
            assert "mark_paid" in shown
            assert ">ada<" in shown
        shown = admin_client.get(address("changeset", "change", change.pk))
        for text in ("mark_paid", "ada", "shop.order", "<del>False</del>"):
            assert text in shown.content.decode()

    def test_nothing_that_was_said_is_left(self, told):
        told("ada").delete()

        left = [*ChangeSet.objects.values(), *RowChange.objects.values()]
        assert left
        assert "I am ada." not in str(left)
        assert "Of ada" not in str(left)

    def test_outlive_goes_with_its_user(self, admin_client, told, people):
        told("ada").delete()
        told("ada")
        page = reverse("admin:auth_user_delete", args=[people["ada"].pk])

        assert admin_client.post(page, {"post": "yes"}).status_code == 302
        assert not ChangeSet.objects.exists()
        assert not RowChange.objects.exists()


class TestColumns:
    def test_change_is_named_by_its_object(self, staff, told):
        change = ChangeSet.objects.get(run__conversation=told("ada"))
        change.rows.update(model="auth.group", text="Sales")
        RowChange.objects.create(change_set=change, order=1, model="x.y", kind="update")
        page = staff("view_changeset", "view_run").get(address("changeset"))

        there = address("changeset", "change", change.pk)
        assert f'<a href="{there}">Group: Sales and 1 more</a>' in page.content.decode()
        assert address("run", "change", change.run_id) in page.content.decode()

    def test_object_of_a_secret_table_is_named_by_its_key(self, staff, told):
        told("ada")
        RowChange.objects.update(model="sessions.session", text="secret")

        page = staff("view_changeset").get(address("changeset")).content.decode()
        assert "Session: 1" in page
        assert "secret" not in page

    def test_audit_entry_links_its_run_while_it_is_there(self, staff, told):
        conversation = told("ada")
        run = conversation.runs.get()
        client = staff("view_auditentry", "view_run")
        link = address("run", "change", run.pk)

        assert link in client.get(address("auditentry")).content.decode()
        assert (
            link
            not in staff("view_auditentry").get(address("auditentry")).content.decode()
        )
        run_id = run.pk
        conversation.delete()
        page = staff("view_auditentry", "view_run").get(address("auditentry"))
        assert f"deleted ({run_id})" in page.content.decode()

    def test_feedback_shows_what_it_is_about_for_who_may_see_that(self, staff, told):
        run = told("ada").runs.get()
        Feedback.objects.create(run=run, user=run.user, value="down")
        own = Feedback.objects.get()
        pages = (address("feedback"), address("feedback", "change", own.pk))

        for page in pages:
            client = staff("view_feedback", "view_conversation", "view_run")
            shown = client.get(page).content.decode()
            assert "I am ada." in shown
            assert address("run", "change", run.pk) in shown
            client = staff("view_feedback")
            shown = client.get(page).content.decode()
            assert "I am ada." not in shown
            assert address("run", "change", run.pk) not in shown


class TestAudit:
    def test_audit_says_which_entries_are_not_sealed(self, admin_client, told):
        told("ada")
        unsealed = admin_client.get(address("auditentry")).content.decode()
        seal_all()
        sealed = admin_client.get(address("auditentry")).content.decode()

        assert "not sealed yet" in unsealed
        assert "not sealed yet" not in sealed


class TestUser:
    def test_user_can_still_be_deleted(self, admin_client, told, people):
        told("ada")
        page = reverse("admin:auth_user_delete", args=[people["ada"].pk])

        assert admin_client.post(page, {"post": "yes"}).status_code == 302
        assert not get_user_model().objects.filter(username="ada").exists()
        assert AuditEntry.objects.get().user_name == "ada"
        assert verify().findings == ()

    def test_user_not_by_who_may_delete_no_conversations(self, client, told, people):
        told("ada")
        boss = get_user_model().objects.create_user("boss", is_staff=True)
        names = ("delete_user", "view_user")
        boss.user_permissions.set(Permission.objects.filter(codename__in=names))
        client.force_login(boss)
        page = reverse("admin:auth_user_delete", args=[people["ada"].pk])

        client.post(page, {"post": "yes"})

        assert get_user_model().objects.filter(username="ada").exists()


def row(**fields):
    return RowChange(model="testapp.effect", object_id="1", kind="update", **fields)


class TestDifference:
    def test_old_and_new_by_the_label(self):
        told = field_difference(
            row(
                before={"key": "a", "value": "x"},
                after={"key": "a", "value": "<b>"},
                fields=["value"],
            )
        )

        assert '<th scope="row">value</th>' in told
        assert "<del>x</del>" in told
        assert "<ins>&lt;b&gt;</ins>" in told
        assert ">key<" not in told

    def test_difference_of_a_new_row_all_that_it_has(self):
        new = RowChange(
            model="testapp.effect", kind="create", after={"key": "a", "value": ""}
        )

        told = field_difference(new)

        assert "<ins>a</ins>" in told
        assert "<del>" not in told
        assert "value" not in told

    def test_hidden_characters_are_seen(self):
        told = field_difference(
            row(before={"value": "a"}, after={"value": "a\u200b"}, fields=["value"])
        )

        assert "\u200b" not in told

    @pytest.mark.parametrize("value", ["pbkdf2_sha256$1$x", {"$sealed": "abc"}])
    def test_secrets_are_not_shown(self, value):
        changed = RowChange(
            model="auth.user",
            kind="update",
            before={"password": value},
            after={"password": "other"},
            fields=["password"],
        )

        told = field_difference(changed)

        assert "pbkdf2" not in told
        assert "abc" not in told
        assert "other" not in told

    def test_secret_tables_are_not_shown(self):
        changed = RowChange(model="sessions.session", kind="delete", before={"a": "bc"})

        assert "bc" not in field_difference(changed)

    def test_table_that_is_gone(self):
        changed = RowChange(model="gone.model", kind="delete", before={"a": "bc"})

        assert "<del>bc</del>" in field_difference(changed)


@pytest.mark.row("X03")
class TestAudited:
    def test_settings_that_are_rows(self, admin_client, admin_user):
        fields = {"scope": "site", "window": "day", "tokens": "1000"}
        admin_client.post(address("budget", "add"), fields)
        own = Budget.objects.get()
        fields["tokens"] = "5"
        admin_client.post(address("budget", "change", own.pk), fields)
        admin_client.post(address("budget", "delete", own.pk), {"post": "yes"})

        entries = AuditEntry.objects.order_by("id")
        assert [one.action for one in entries] == [
            "settings.added",
            "settings.changed",
            "settings.deleted",
        ]
        assert {one.user for one in entries} == {admin_user}
        assert [one.details["values"]["tokens"] for one in entries] == [1000, 5, 5]

    def test_rules_of_the_policy(self, admin_client):
        fields = {"tools": "shop_.*", "decision": "deny"}
        admin_client.post(address("policyrule", "add"), fields)

        details = AuditEntry.objects.get(action="settings.added").details
        assert details["values"]["tools"] == "shop_.*"
        assert details["values"]["decision"] == "deny"

    def test_several_at_once(self, admin_client):
        budgets = [
            Budget.objects.create(scope="site", window=window, tokens=1)
            for window in ("day", "month")
        ]
        fields = {
            "action": "delete_selected",
            "_selected_action": [one.pk for one in budgets],
            "post": "yes",
        }
        admin_client.post(address("budget"), fields)

        assert AuditEntry.objects.filter(action="settings.deleted").count() == 2
