import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management import call_command

pytestmark = pytest.mark.django_db
ASSISTANT = {
    "ai_assistant.view_assistant",
    "ai_assistant.use_assistant",
    "ai_assistant.share_conversation",
    "ai_assistant.view_shared_conversations",
}


@pytest.fixture
def users(db):
    call_command("demo_users")
    return {user.username: user for user in get_user_model().objects.all()}


class TestDemoUsers:
    @pytest.mark.parametrize("name", ["admin", "editor", "viewer"])
    def test_demo_users_can_sign_in(self, users, name):
        user = authenticate(username=name, password=name)

        assert user == users[name]
        assert user.is_staff

    def test_editor_may_change_and_not_delete(self, users):
        granted = users["editor"].get_all_permissions()

        assert granted > ASSISTANT
        verbs = {name.split(".")[1].split("_")[0] for name in granted - ASSISTANT}
        assert verbs == {"view", "add", "change"}
        apps = {name.split(".")[0] for name in granted - ASSISTANT}
        assert apps == {"questionnaires", "wiki", "discover"}

    def test_viewer_may_only_look(self, users):
        granted = users["viewer"].get_all_permissions()

        assert granted > ASSISTANT
        assert not [name for name in granted - ASSISTANT if ".view_" not in name]

    def test_repeating_keeps_a_changed_password(self, users):
        users["editor"].set_password("other")
        users["editor"].save()

        call_command("demo_users")

        assert authenticate(username="editor", password="other")
