"""An action of the admin as a tool may do what the list would let the user do."""

import uuid

import pytest
from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse

from ai_assistant import ModelRetry, RunContext, ToolFailed
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.tools.adapters import from_admin_action
from ai_assistant.tools.arguments import function_schema

pytestmark = [pytest.mark.django_db, pytest.mark.row("T08")]

site = admin.AdminSite(name="admin")


@admin.register(Group, site=site)
class GroupAdmin(admin.ModelAdmin):
    actions = ("rename", "show", "complain", "delete_selected")

    def get_queryset(self, request):
        return super().get_queryset(request).exclude(name="hidden")

    @admin.action(description="Rename them", permissions=["change"])
    def rename(self, request, queryset):
        """Give the groups another name."""
        for group in queryset:
            group.name = f"{group.name}!"
            group.save()
        self.message_user(request, f"{queryset.count()} renamed.")

    def show(self, request, queryset):
        return HttpResponse("a page")

    def complain(self, request, queryset):
        self.message_user(request, "Not today.", level=messages.ERROR)


@pytest.fixture
def group():
    return Group.objects.create(name="one")


@pytest.fixture
def user():
    return get_user_model().objects.create_superuser("ada")


def use(action, user, ids):
    tool = from_admin_action(Group, action, effect="write", site=site)
    context = RunContext(user=user, run_id=uuid.uuid4(), conversation_id=uuid.uuid4())
    return tool.handler(context, [str(one) for one in ids])


class NoSecond(ChangeList):
    def get_queryset(self, request, *args, **kwargs):
        return super().get_queryset(request, *args, **kwargs).exclude(name="two")


class TestAdminAction:
    def test_tool_of_an_action_has_its_name_description_and_schema(self):
        tool = from_admin_action(Group, "rename", effect="write", site=site)

        assert (tool.name, tool.display.label) == ("auth_group_rename", "Rename them")
        assert tool.description.startswith("Give the groups another name.")
        told = function_schema(tool)["function"]["parameters"]["properties"]
        assert "ids of the groups" in told["ids"]["description"]

    def test_admin_action_does_it_and_tells(self, group, user):
        result = use("rename", user, [group.pk])

        group.refresh_from_db()
        assert (result.ok, result.message, group.name) == (True, "1 renamed.", "one!")

    def test_admin_action_needs_the_permission_of_the_action(self, group):
        staff = get_user_model().objects.create_user("nora", is_staff=True)
        codes = ["view_group"]
        staff.user_permissions.set(Permission.objects.filter(codename__in=codes))

        with pytest.raises(PermissionDenied):
            use("rename", staff, [group.pk])

    def test_admin_action_needs_the_admin(self, group):
        nobody = get_user_model().objects.create_user("max")

        with pytest.raises(PermissionDenied):
            use("complain", nobody, [group.pk])

    def test_admin_action_finds_what_the_list_shows(self, user):
        hidden = Group.objects.create(name="hidden")

        with pytest.raises(ModelRetry, match="no object with the id"):
            use("rename", user, [hidden.pk])

    def test_admin_action_finds_no_row_that_the_list_hides(self, user, monkeypatch):
        group = Group.objects.create(name="two")
        monkeypatch.setattr(GroupAdmin, "get_changelist", lambda *_args: NoSecond)
        with pytest.raises(ModelRetry, match="There is no object"):
            use("rename", user, [group.pk])

    def test_posts_to_a_list_of_the_site(self, user, monkeypatch):
        group = Group.objects.create(name="one")

        def refuses(self, request, queryset, **_location):
            self.message_user(request, "Not by this way.", level=messages.ERROR)

        own = admin.site.get_model_admin(Group)
        monkeypatch.setattr(type(own), "response_action", refuses, raising=False)
        monkeypatch.setattr(type(own), "rename", GroupAdmin.rename, raising=False)
        monkeypatch.setattr(type(own), "actions", ("rename",))
        tool = from_admin_action(Group, "rename", effect="write")
        context = RunContext(
            user=user, run_id=uuid.uuid4(), conversation_id=uuid.uuid4()
        )

        result = tool.handler(context, [str(group.pk)])

        group.refresh_from_db()
        assert (result.ok, result.error, group.name) == (
            False,
            "Not by this way.",
            "one",
        )

    @pytest.mark.parametrize("ids", [[], ["x"], [4711]])
    def test_wrong_ids(self, user, ids):
        with pytest.raises(ModelRetry):
            use("rename", user, ids)

    def test_error_of_the_action(self, group, user):
        result = use("complain", user, [group.pk])

        assert (result.ok, result.error) == (False, "Not today.")

    def test_page_of_its_own(self, group, user):
        with pytest.raises(ToolFailed, match="a page of its own"):
            use("show", user, [group.pk])

    def test_admin_action_is_opted_in_by_name(self):
        with pytest.raises(ImproperlyConfiguredAssistant, match="on a page of its own"):
            from_admin_action(Group, "delete_selected", effect="write", site=site)

    def test_model_without_admin(self):
        with pytest.raises(ImproperlyConfiguredAssistant, match="not in the admin"):
            from_admin_action(Permission, "rename", effect="write", site=site)
