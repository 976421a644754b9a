"""A form of the admin saves no object that a run works on, and loses nothing of it."""

import uuid
from typing import ClassVar

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.test import AsyncClient

import ai_assistant
from ai_assistant import ContextModule
from ai_assistant.engine.storage.lease import database_now
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.lock import ObjectLock
from ai_assistant.models.run import Run
from ai_assistant.registry import registry

pytestmark = [pytest.mark.django_db, pytest.mark.row("K01")]

LIST = "/admin/auth/group/"
SAID = "The assistant is working on this group for nora. It can be saved when that is done."


@pytest.fixture(autouse=True)
def _module():
    with registry.restored():

        @ai_assistant.register
        class GroupModule(ContextModule):
            """The pages of groups."""

            matches = ("admin:auth_group_*",)
            features: ClassVar = {"lock": True}

        yield


@pytest.fixture
def group():
    return Group.objects.create(name="Editors")


@pytest.fixture
def path(group):
    return f"{LIST}{group.pk}/change/"


@pytest.fixture
def lock(group):
    """Let a run of Nora work on the group."""
    nora = get_user_model().objects.create_user("nora")
    run = Run.objects.create(
        conversation=Conversation.objects.create(id=uuid.uuid4(), owner=nora),
        user=nora,
        idempotency_key="x",
        state="running",
        lease_until=database_now() + 60,
    )
    kind = ContentType.objects.get_for_model(Group)
    return ObjectLock.objects.create(
        content_type=kind, object_id=str(group.pk), run=run, user=nora
    )


@pytest.fixture
def staff(client):
    user = get_user_model().objects.create_superuser("ada", password="x")
    client.force_login(user)
    return client


def name(group):
    return Group.objects.get(pk=group.pk).name


@pytest.mark.usefixtures("lock")
class TestLocked:
    def test_locked_is_not_saved(self, staff, path, group):
        answer = staff.post(path, {"name": "Other", "permissions": ["1", "2"]})

        page = answer.content.decode()
        assert answer.status_code == 409
        assert SAID in page
        assert '<input type="hidden" name="name" value="Other">' in page
        assert page.count('<input type="hidden" name="permissions"') == 2
        assert "no-store" in answer["Cache-Control"]
        assert name(group) == "Editors"

    def test_what_was_entered_is_escaped(self, staff, path):
        page = staff.post(path, {"name": '"><script>x()</script>'}).content.decode()

        assert 'value="&quot;&gt;&lt;script&gt;x()' in page

    def test_locked_is_not_deleted(self, staff, group):
        answer = staff.post(f"{LIST}{group.pk}/delete/", {"post": "yes"})

        assert answer.status_code == 409
        assert name(group) == "Editors"

    @pytest.mark.parametrize("across", [False, True])
    def test_locked_is_not_touched_by_an_action(self, staff, group, across):
        other = Group.objects.create(name="Other")
        posted = {
            "action": "delete_selected",
            "_selected_action": [(other if across else group).pk],
            "select_across": "1" if across else "0",
            "post": "yes",
        }

        assert staff.post(LIST, posted).status_code == 409
        assert Group.objects.count() == 2

    def test_locked_is_not_saved_in_a_list(self, staff, group):
        posted = {"_save": "Save", "form-0-id": group.pk, "form-0-name": "Other"}

        assert staff.post(LIST, posted).status_code == 409

    def test_others_are_saved(self, staff):
        other = Group.objects.create(name="Other")

        assert (
            staff.post(f"{LIST}{other.pk}/change/", {"name": "New"}).status_code == 302
        )
        assert name(other) == "New"

    def test_new_one_is_added(self, staff):
        assert staff.post(f"{LIST}add/", {"name": "New"}).status_code == 302

    def test_opened_page_says_so(self, staff, path):
        page = staff.get(path)

        assert page.status_code == 200
        assert SAID in page.content.decode()

    def test_opened_page_of_another_does_not(self, staff):
        other = Group.objects.create(name="Other")

        page = staff.get(f"{LIST}{other.pk}/change/")
        assert "The assistant is working" not in page.content.decode()

    def test_stranger_learns_nothing(self, client, path):
        bo = get_user_model().objects.create_user("bo", is_staff=True)
        bo.user_permissions.set(Permission.objects.filter(codename="view_user"))
        client.force_login(bo)

        assert client.post(path, {"name": "Other"}).status_code == 403
        client.logout()
        assert client.post(path, {"name": "Other"}).status_code == 302

    @pytest.mark.parametrize("key", ["x", "0", "9" * 50, "_5F"])
    def test_key_of_nothing(self, staff, key):
        assert staff.post(f"{LIST}{key}/change/", {"name": "x"}).status_code == 302


class TestFree:
    def test_save_again_is_all_it_takes(self, staff, path, group, lock):
        assert staff.post(path, {"name": "Other"}).status_code == 409
        lock.delete()

        assert staff.post(path, {"name": "Other"}).status_code == 302
        assert name(group) == "Other"

    def test_lock_without_a_lease(self, staff, path, group, lock):
        Run.objects.update(lease_until=database_now() - 1)

        assert staff.post(path, {"name": "Other"}).status_code == 302

    @pytest.mark.parametrize("state", ["waiting_approval", "succeeded"])
    def test_lock_of_a_run_that_does_not_work(self, staff, path, lock, state):
        Run.objects.update(state=state)

        assert staff.post(path, {"name": "Other"}).status_code == 302

    def test_site_without_locks_is_not_asked(self, staff, path, lock):
        for name in list(registry.modules()):
            registry._remove("module", name)

        assert staff.post(path, {"name": "Other"}).status_code == 302


@pytest.mark.django_db(transaction=True)
async def test_under_asgi(group, path, lock):
    user = await get_user_model().objects.acreate_superuser("ada", password="x")
    client = AsyncClient()
    await client.aforce_login(user)

    answer = await client.post(path, {"name": "Other"})

    assert answer.status_code == 409


@pytest.mark.usefixtures("lock")
class TestRoot:
    """The page of a part says who works on the object to which it belongs."""

    @pytest.fixture(autouse=True)
    def _users_belong_to_groups(self):
        @ai_assistant.register
        class UserModule(ContextModule):
            """The pages of users, who belong to a group here."""

            matches = ("admin:auth_user_change",)
            features: ClassVar = {"lock": True}

            def get_root(self, context):
                """Return the group of the user."""
                return Group.objects.filter(user=context.page.object_id).first()

    @pytest.fixture
    def member(self, group):
        user = get_user_model().objects.create_user("bo")
        user.groups.add(group)
        return f"/admin/auth/user/{user.pk}/change/"

    def test_opened_and_saved(self, staff, member):
        assert SAID in staff.get(member).content.decode()
        assert staff.post(member, {"username": "other"}).status_code == 409

    def test_of_another_root(self, staff):
        bo = get_user_model().objects.create_user("bo")
        page = f"/admin/auth/user/{bo.pk}/change/"

        assert "The assistant is working" not in staff.get(page).content.decode()
        assert staff.post(page, {"username": "other"}).status_code == 200
