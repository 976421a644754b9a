import uuid

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.urls import reverse

from ai_assistant.models import Conversation, Message, Run
from ai_assistant.models.run import RunState

pytestmark = pytest.mark.django_db

LISTS = ("conversation", "run")


@pytest.fixture
def conversation():
    """A conversation of somebody else, with one run and its question."""
    nora = get_user_model().objects.create_user("nora")
    conversation = Conversation.objects.create(owner=nora, title="About sections")
    run = Run.objects.create(
        conversation=conversation,
        user=nora,
        idempotency_key=uuid.uuid4(),
        state=RunState.FAILED,
        error_code="bad_key",
    )
    Message.objects.create(
        conversation=conversation,
        run=run,
        position=0,
        role=Message.Role.USER,
        parts=[{"type": "text", "text": "What do I earn?"}],
    )
    return conversation


@pytest.fixture
def staff(client):
    """Sign in a staff user with these permissions of the app."""

    def sign_in(*codenames):
        user = get_user_model().objects.create_user("ada", is_staff=True)
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


class TestPermission:
    @pytest.mark.parametrize("name", LISTS)
    def test_use_of_the_assistant_shows_no_list(self, staff, name):
        client = staff("view_assistant", "use_assistant")

        assert client.get(address(name)).status_code == 403

    @pytest.mark.parametrize("name", LISTS)
    def test_view_shows_the_list(self, staff, conversation, name):
        client = staff(f"view_{name}")

        response = client.get(address(name), {"q": "nora"})

        assert response.status_code == 200
        assert "About sections" in response.content.decode()

    @pytest.mark.parametrize("name", LISTS)
    def test_off_hides_the_list(self, staff, settings, name):
        client = staff(f"view_{name}")
        settings.AI_ASSISTANT = {"ENABLED": False}

        assert client.get(address(name)).status_code == 403
        assert address(name) not in client.get(reverse("admin:index")).content.decode()


class TestReadOnly:
    @pytest.mark.parametrize("name", LISTS)
    def test_superuser_adds_none(self, admin_client, name):
        assert admin_client.get(address(name, "add")).status_code == 403

    @pytest.mark.parametrize("name", LISTS)
    def test_superuser_changes_none(self, admin_client, conversation, name):
        row = conversation if name == "conversation" else conversation.runs.get()
        page = address(name, "change", row.pk)

        assert b'name="_save"' not in admin_client.get(page).content
        assert admin_client.post(page, {"title": "x"}).status_code == 403

    def test_what_was_said_is_not_shown(self, admin_client, conversation):
        page = address("conversation", "change", conversation.pk)

        assert "earn" not in admin_client.get(page).content.decode()

    def test_run_says_why_it_failed(self, admin_client, conversation):
        run = conversation.runs.get()

        response = admin_client.get(address("run", "change", run.pk))

        assert "bad_key" in response.content.decode()


class TestDelete:
    def test_delete_takes_the_runs_along(self, admin_client, conversation):
        page = address("conversation", "delete", conversation.pk)

        response = admin_client.post(page, {"post": "yes"})

        assert response.status_code == 302
        assert not Conversation.objects.exists()
        assert not Run.objects.exists()

    def test_several_at_once(self, staff, conversation):
        client = staff("view_conversation", "delete_conversation")

        client.post(
            address("conversation"),
            {
                "action": "delete_selected",
                "_selected_action": [str(conversation.pk)],
                "post": "yes",
            },
        )

        assert not Conversation.objects.exists()

    def test_delete_needs_its_permission(self, staff, conversation):
        client = staff("view_conversation")

        page = address("conversation", "delete", conversation.pk)

        assert client.post(page, {"post": "yes"}).status_code == 403

    def test_runs_alone_stay(self, admin_client, conversation):
        page = address("run", "delete", conversation.runs.get().pk)

        assert admin_client.post(page, {"post": "yes"}).status_code == 403
