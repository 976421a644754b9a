"""The page of what is remembered: everybody's own, and what is shared for who may."""

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.urls import reverse

from ai_assistant.configuration.memories import memories_of
from ai_assistant.models import AuditEntry, Memory

pytestmark = [pytest.mark.django_db, pytest.mark.row("D16")]

LIST = "admin:ai_assistant_memory_changelist"
ADD = "admin:ai_assistant_memory_add"


def change(memory):
    return reverse("admin:ai_assistant_memory_change", args=[memory.pk])


def delete(memory):
    return reverse("admin:ai_assistant_memory_delete", args=[memory.pk])


@pytest.fixture
def grant():
    def give(user, *codenames):
        user.user_permissions.add(*Permission.objects.filter(codename__in=codenames))

    return give


@pytest.fixture
def ada(django_user_model, grant):
    user = django_user_model.objects.create_user("ada", is_staff=True)
    grant(user, "view_assistant", "use_assistant")
    return user


@pytest.fixture
def bob(django_user_model):
    return django_user_model.objects.create_superuser("bob")


class TestOwn:
    def test_are_listed_and_nobody_elses(self, client, ada, bob):
        mine = Memory.objects.create(owner=ada, author=ada, text="I am Ada.")
        Memory.objects.create(owner=bob, author=bob, text="I am Bob.")
        Memory.objects.create(author=bob, text="We are many.")

        client.force_login(ada)
        shown = client.get(reverse(LIST)).content.decode()

        assert mine.text in shown
        assert "I am Bob." not in shown
        assert "We are many." not in shown

    def test_superuser_sees_no_other_ones_own(self, client, ada, bob):
        memory = Memory.objects.create(owner=ada, author=ada, text="I am Ada.")

        client.force_login(bob)

        assert memory.text not in client.get(reverse(LIST)).content.decode()
        assert client.get(change(memory)).status_code == 302  # there is none
        client.post(delete(memory), {"post": "yes"})
        assert Memory.objects.exists()

    def test_is_added_as_typed(self, client, ada):
        client.force_login(ada)

        client.post(reverse(ADD), {"text": "I write\n French. "})

        memory = Memory.objects.get()
        assert (memory.owner, memory.author, memory.text) == (
            ada,
            ada,
            "I write French.",
        )
        assert memory.words == "user"

    def test_changed_words_are_the_persons_own(self, client, ada):
        memory = Memory.objects.create(owner=ada, author=ada, text="Worded.")
        client.force_login(ada)

        client.post(change(memory), {"text": "My words."})

        memory.refresh_from_db()
        assert (memory.text, memory.words, memory.owner) == ("My words.", "user", ada)

    def test_is_deleted(self, client, ada):
        memory = Memory.objects.create(owner=ada, author=ada, text="Old.")
        client.force_login(ada)

        client.post(delete(memory), {"post": "yes"})

        assert not Memory.objects.exists()

    def test_is_not_in_the_audit_log(self, client, ada):
        client.force_login(ada)

        client.post(reverse(ADD), {"text": "My own."})
        client.post(change(Memory.objects.get()), {"text": "Still my own."})
        client.post(delete(Memory.objects.get()), {"post": "yes"})

        assert not Memory.objects.exists()
        assert not AuditEntry.objects.exists()
        logged = LogEntry.objects.values_list("object_repr", flat=True)
        assert len(logged) == 3
        assert all(one.startswith("Memory of ") for one in logged)

    def test_is_named_by_its_words_on_its_own_pages(self, client, ada):
        memory = Memory.objects.create(owner=ada, author=ada, text="I am Ada.")
        client.force_login(ada)

        chosen = {"action": "delete_selected", "_selected_action": [memory.pk]}
        pages = [client.get(delete(memory)), client.post(reverse(LIST), chosen)]
        assert all("I am Ada." in page.content.decode() for page in pages)

    def test_is_exported(self, client, ada, bob):
        mine = Memory.objects.create(owner=ada, author=ada, text="Zürich.")
        other = Memory.objects.create(owner=bob, author=bob, text="Not hers.")
        client.force_login(ada)

        chosen = {"action": "export", "_selected_action": [mine.pk, other.pk]}
        (row,) = json.loads(client.post(reverse(LIST), chosen).content)

        assert (row["text"], row["for"]) == ("Zürich.", "you")

    def test_is_switched_off_and_on_by_who_may_change_it(self, client, ada, bob, grant):
        grant(ada, "view_memory")
        mine = Memory.objects.create(owner=ada, author=ada, text="I am Ada.")
        Memory.objects.create(author=bob, text="We are many.")
        client.force_login(ada)
        chosen = {"_selected_action": [one.pk for one in Memory.objects.all()]}

        client.post(reverse(LIST), {"action": "switch_off", **chosen})

        assert [str(one) for one in memories_of(ada)] == ["We are many."]
        assert LogEntry.objects.get().object_id == str(mine.pk)
        client.post(reverse(LIST), {"action": "switch_on", **chosen})
        assert len(memories_of(ada)) == 2

    def test_person_without_the_assistant_has_none(self, client, django_user_model):
        eva = django_user_model.objects.create_user("eva", is_staff=True)
        client.force_login(eva)

        assert client.get(reverse(LIST)).status_code == 403

    def test_is_off_by_setting(self, client, ada, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "MEMORY": False}
        client.force_login(ada)

        assert client.get(reverse(LIST)).status_code == 403


class TestShared:
    @pytest.fixture
    def shared(self, bob):
        return Memory.objects.create(author=bob, text="We are many.")

    def test_nobody_shares_without_the_permission(self, client, ada):
        client.force_login(ada)

        client.post(reverse(ADD), {"text": "All: obey.", "for_everyone": "on"})

        assert Memory.objects.get().owner == ada

    def test_who_may_shares_with_a_group_or_everyone(self, client, bob):
        group = Group.objects.create(name="Sales")
        client.force_login(bob)

        client.post(reverse(ADD), {"text": "One.", "group": group.pk})
        client.post(reverse(ADD), {"text": "Two.", "for_everyone": "on"})
        client.post(reverse(ADD), {"text": "Three."})

        told = AuditEntry.objects.filter(action="settings.added").order_by("pk")
        assert [row.details["values"]["text"] for row in told] == ["One.", "Two."]
        found = Memory.objects.order_by("pk").values_list("owner", "group")
        assert list(found) == [(None, group.pk), (None, None), (bob.pk, None)]

    def test_who_only_views_changes_and_deletes_none(self, client, ada, grant, shared):
        grant(ada, "view_memory")
        client.force_login(ada)
        chosen = {"action": "delete_selected", "_selected_action": [shared.pk]}

        client.post(change(shared), {"text": "Changed."})
        client.post(delete(shared), {"post": "yes"})
        client.post(reverse(LIST), {**chosen, "post": "yes"})

        assert shared.text in client.get(reverse(LIST)).content.decode()
        assert Memory.objects.get().text == "We are many."

    def test_who_sees_none_reaches_none(self, client, ada, shared):
        client.force_login(ada)

        client.post(delete(shared), {"post": "yes"})

        assert Memory.objects.exists()
