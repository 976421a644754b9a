"""Who may see the assistant, use it, and call a tool."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser, Permission

from ai_assistant.safety.identity.permissions import (
    fresh_user,
    may_call,
    may_use,
    may_view,
)
from ai_assistant.types import ToolDefinition

pytestmark = pytest.mark.django_db


@pytest.fixture
def make():
    def user(*codes, **fields):
        fields.setdefault("is_staff", True)
        user = get_user_model().objects.create_user("nora", **fields)
        user.user_permissions.set(Permission.objects.filter(codename__in=codes))
        return get_user_model().objects.get(pk=user.pk)

    return user


@pytest.mark.row("M12")
class TestMayViewAndUse:
    @pytest.mark.parametrize(
        ("codes", "expected"),
        [
            ([], (False, False)),
            (["view_assistant"], (True, False)),
            (["use_assistant"], (False, False)),
            (["view_assistant", "use_assistant"], (True, True)),
        ],
    )
    def test_may_view_and_use_by_permission(self, make, codes, expected):
        user = make(*codes)

        assert (may_view(user), may_use(user)) == expected

    @pytest.mark.parametrize("field", ["is_staff", "is_active"])
    def test_only_active_staff(self, make, field):
        user = make("view_assistant", "use_assistant", **{field: False})

        assert (may_view(user), may_use(user)) == (False, False)

    def test_others_if_the_site_says_so(self, make, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "STAFF_ONLY": False}
        user = make("view_assistant", "use_assistant", is_staff=False)

        assert may_use(user)

    def test_nobody_is_not_admitted(self, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "STAFF_ONLY": False}

        assert not may_view(AnonymousUser())

    def test_superuser(self, make):
        assert may_use(make(is_superuser=True))


class TestMayCall:
    def tool(self, permission=""):
        return ToolDefinition.of(
            name="tool",
            handler=print,
            effect="read",
            description="",
            label="",
            permission=permission,
        )

    def test_may_call_without_permission_all_may(self, make):
        assert may_call(make(), self.tool())

    def test_may_call_by_permission(self, make):
        assert not may_call(make(), self.tool("auth.add_user"))

    def test_may_call_with_permission(self, make):
        assert may_call(make("add_user"), self.tool("auth.add_user"))


class TestFreshUser:
    def test_fresh_user_is_as_the_database_has_it(self, make):
        user = make()
        assert not user.has_perm("auth.add_user")
        user.user_permissions.add(Permission.objects.get(codename="add_user"))

        assert fresh_user(user.pk).has_perm("auth.add_user")

    def test_who_is_gone(self):
        assert fresh_user(999_999) is None
