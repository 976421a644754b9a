"""The prompt commands of the caller: listed, and their own ones saved and deleted."""

from dataclasses import asdict
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.configuration.command_arguments import command_schema, schema_problem
from ai_assistant.configuration.own_commands import delete_named, save_own
from ai_assistant.configuration.setup import usable_commands
from ai_assistant.engine.storage.units import unit
from ai_assistant.types import PromptCommand
from ai_assistant.web.rest.base import ApiView, operation
from ai_assistant.web.rest.serializers import Body, ReadSerializer, Text

NOT_SAID = ("available",)  # of a placement: code


class CommandSerializer(ReadSerializer):
    """A command that the user may send as `/name`."""

    name = serializers.CharField()
    description = serializers.CharField()
    arguments = serializers.SerializerMethodField(help_text="A JSON Schema.")
    source = serializers.CharField(
        source="origin",
        help_text="The module that registers it, or `row` for one of the admin.",
    )
    is_own = serializers.SerializerMethodField(help_text="It is the user's own.")
    where = serializers.SerializerMethodField(
        help_text="On which pages and for whom; empty: everywhere. `module`, `model`, "
        "`view`, `group`, `language` and `permission`, as far as they limit it."
    )

    def get_arguments(self, command: PromptCommand) -> dict[str, Any]:
        return {} if schema_problem(command) else command_schema(command)

    def get_is_own(self, command: PromptCommand) -> bool:
        return command.owner_id is not None

    def get_where(self, command: PromptCommand) -> dict[str, str]:
        return {
            name: value
            for name, value in asdict(command.placement).items()
            if value and name not in NOT_SAID
        }


class CommandsSerializer(ReadSerializer):
    """All commands of the user."""

    commands = CommandSerializer(many=True)


class CommandBody(Body):
    """A command of one's own."""

    name = Text(help_text="Lower-case letters, digits and single hyphens.")
    text = Text(help_text="`{{ arguments }}` is what follows the name.")
    description = Text(required=False, default="", allow_blank=True)


class NameQuery(serializers.Serializer[Any]):
    """Which command."""

    name = serializers.CharField()


class CommandsView(ApiView):
    """The prompt commands of the user."""

    @operation(id="commands_list", answers={200: CommandsSerializer})
    def get(self, request: Request) -> Response:
        """
        List the commands that the user may send, on one page or another.

        Send the text of a run as `/name`, and what follows it.
        """
        return Response(_answer(request.user))

    @operation(
        id="commands_save",
        body=CommandBody,
        answers={200: CommandsSerializer},
        problems=("command_name", "command_text", "too_many"),
        example={"name": "report", "text": "Sum up {{ arguments }}."},
    )
    def post(self, request: Request) -> Response:
        """Save a command of the user's own; one of the same name is replaced."""
        unit(save_own)(request.user, **self.read_body())
        return Response(_answer(request.user))

    @operation(
        id="commands_delete",
        query=NameQuery,
        answers={204: None},
        problems=("not_found",),
    )
    def delete(self, request: Request) -> Response:
        """Delete a command of the user's own."""
        named = NameQuery(data=request.query_params.dict())
        named.is_valid(raise_exception=True)
        unit(delete_named)(request.user, named.validated_data["name"])
        return Response(status=204)


def _answer(user: Any) -> Any:
    commands = sorted(usable_commands(user), key=lambda one: one.name)
    return CommandsSerializer({"commands": commands}).data
