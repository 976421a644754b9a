"""An action of a viewset as a tool: the viewset itself is asked."""

import uuid

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from rest_framework import permissions, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.response import Response

from ai_assistant import RunContext
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.tools.adapters import from_viewset
from ai_assistant.tools.arguments import function_schema, schema_error

pytestmark = [pytest.mark.django_db, pytest.mark.row("T08")]


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ("id", "name")


class GroupViewSet(viewsets.ModelViewSet):
    """Groups of users."""

    queryset = Group.objects.order_by("pk")
    serializer_class = GroupSerializer
    permission_classes = (permissions.DjangoModelPermissions,)

    @action(detail=True, methods=["post"])
    def shout(self, request, pk=None):
        """Write its name in capitals."""
        group = self.get_object()
        return Response({"name": group.name.upper()})


@pytest.fixture
def user():
    return get_user_model().objects.create_superuser("ada")


def use(name, user, effect="write", **arguments):
    tool = from_viewset(GroupViewSet, name, effect=effect)
    assert schema_error(tool) == ""
    context = RunContext(user=user, run_id=uuid.uuid4(), conversation_id=uuid.uuid4())
    return tool.handler(context, **arguments)


class TestViewset:
    @pytest.mark.row("T22")
    def test_tool_of_a_viewset_action_has_its_name_and_schema(self):
        tool = from_viewset(GroupViewSet, "partial_update", effect="write")

        assert tool.name == "auth_group_partial_update"
        told = function_schema(tool)["function"]["parameters"]
        assert told["required"] == ["pk"]
        assert list(told["properties"]["data"]["properties"]) == ["name"]
        assert told["properties"]["data"]["required"] == []

    def test_list(self, user):
        Group.objects.create(name="one")

        result = use("list", user, effect="read")

        assert [row["name"] for row in result.data] == ["one"]

    def test_create(self, user):
        result = use("create", user, data={"name": "new"})

        assert (result.ok, Group.objects.get().name) == (True, "new")

    @pytest.mark.parametrize(
        ("name", "arguments", "left"),
        [
            ("update", {"data": {"name": "b"}}, ["b"]),
            ("partial_update", {"data": {"name": "c"}}, ["c"]),
            ("destroy", {}, []),
        ],
    )
    def test_viewset_of_one(self, user, name, arguments, left):
        group = Group.objects.create(name="a")

        assert use(name, user, pk=group.pk, **arguments).ok
        assert [one.name for one in Group.objects.all()] == left

    def test_own_action(self, user):
        group = Group.objects.create(name="a")

        assert use("shout", user, pk=group.pk).data == {"name": "A"}

    def test_wrong_data(self, user):
        result = use("create", user, data={"name": ""})

        assert (result.ok, result.error_type) == (False, "validation")
        assert result.error.startswith("name: ")

    def test_viewset_not_there(self, user):
        result = use("retrieve", user, effect="read", pk=4711)

        assert (result.ok, result.error_type) == (False, "not_found")

    @pytest.mark.row("X09")
    def test_permission_classes_are_asked(self):
        nobody = get_user_model().objects.create_user("max")

        result = use("create", nobody, data={"name": "new"})

        assert (result.ok, result.error_type) == (False, "permission")
        assert not Group.objects.exists()

    def test_a_post_is_no_read(self):
        with pytest.raises(ImproperlyConfiguredAssistant, match="is a POST"):
            from_viewset(GroupViewSet, "create", effect="read")

    @pytest.mark.parametrize("name", ["nothing", "get_queryset"])
    def test_no_action(self, name):
        with pytest.raises(
            ImproperlyConfiguredAssistant, match=r"no action|not an action"
        ):
            from_viewset(GroupViewSet, name, effect="read")
