"""What is registered for the caller, and the commands of their own."""

from collections.abc import Collection, Iterable
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.configuration.command_arguments import command_schema, schema_problem
from ai_assistant.configuration.own_commands import delete_named, save_own
from ai_assistant.configuration.registered import (
    RegisteredPart,
    limits_of,
    registered_parts,
)
from ai_assistant.configuration.setup import TAUGHT, of_user, registered_commands
from ai_assistant.engine.storage.units import unit
from ai_assistant.modules.base import ContextModule, tool_name
from ai_assistant.modules.resolve import NO_RUN
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import may_call
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.tools.api.search import operations_for
from ai_assistant.tools.arguments import function_schema, schema_error
from ai_assistant.types import PromptCommand, RunContext, ToolDefinition
from ai_assistant.types.hook import Hook
from ai_assistant.web.rest.base import ApiView, operation
from ai_assistant.web.rest.serializers import Body, ReadSerializer, Text


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
        return limits_of(command.placement)


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
    commands = of_user(registered_commands(), user)
    return CommandsSerializer({"commands": commands}).data


# --- all that is registered ---


class ToolSerializer(ReadSerializer):
    """A tool that the user may call."""

    name = serializers.CharField()
    label = serializers.CharField(source="display.label")
    description = serializers.CharField()
    effect = serializers.CharField(help_text="read, ui, write or destructive")
    policy = serializers.SerializerMethodField(
        help_text="`allow` or `ask`: whether each call waits for a person"
    )
    background = serializers.BooleanField(source="execution.background")
    browser = serializers.BooleanField(
        source="execution.browser", help_text="It is executed by a page."
    )
    parameters = serializers.SerializerMethodField(help_text="A JSON Schema.")

    def get_policy(self, tool: ToolDefinition) -> str:
        return tool_verdict(tool, user=self.context["user"]).decision

    def get_parameters(self, tool: ToolDefinition) -> dict[str, Any]:
        parameters: dict[str, Any] = function_schema(tool)["function"]["parameters"]
        return parameters


class ModuleSerializer(ReadSerializer):
    """What the assistant is on some pages."""

    id = serializers.CharField(source="module.id")
    label = serializers.CharField(source="module.label")
    matches = serializers.ListField(
        child=serializers.CharField(),
        help_text="Names of views; `*` matches anything. Of one made in the admin also "
        "models, as `app.model`.",
    )
    tools = serializers.ListField(
        child=serializers.CharField(),
        help_text="Those of its tools that the user may call.",
    )


class TaughtSerializer(ReadSerializer):
    """A command, skill, instruction or agent of the site."""

    name = serializers.CharField()
    source = serializers.SerializerMethodField(
        help_text="The module or file that registers it, or `row` for one of the "
        "admin; empty for who is no superuser."
    )
    where = serializers.SerializerMethodField(
        help_text="On which pages and for whom; empty: everywhere. `module`, `model`, "
        "`view`, `group`, `language` and `permission`, as far as they limit it."
    )

    def get_source(self, part: Any) -> str:
        return part.origin if self.context["user"].is_superuser else ""

    def get_where(self, part: Any) -> dict[str, str]:
        return limits_of(part.placement)


class HookSerializer(ReadSerializer):
    """Code of the site that watches runs, or changes them."""

    name = serializers.CharField()
    point = serializers.CharField()
    where = serializers.CharField(help_text="Where it applies, in words.")
    guard = serializers.BooleanField(help_text="It refuses if it fails.")
    origin = serializers.SerializerMethodField(
        help_text="The module that registered it; empty for who is no superuser."
    )

    def get_origin(self, hook: Hook) -> str:
        return hook.origin if self.context["user"].is_superuser else ""


class ApiOperationSerializer(ReadSerializer):
    """An operation of the site's own API, for `search_api` and `call_api`."""

    name = serializers.CharField(source="id")
    method = serializers.CharField()
    path = serializers.CharField()
    effect = serializers.CharField(help_text="read, write or destructive")
    description = serializers.CharField(source="about")


class RegisteredSerializer(ReadSerializer):
    """What the site's apps have registered, as far as the user may call it."""

    context = serializers.ListField(child=serializers.CharField())
    tools = ToolSerializer(many=True)
    commands = TaughtSerializer(many=True)
    skills = TaughtSerializer(many=True)
    instructions = TaughtSerializer(many=True)
    hooks = HookSerializer(many=True)
    modules = ModuleSerializer(many=True)
    agents = TaughtSerializer(many=True)
    suggestions = serializers.ListField(child=serializers.CharField())
    operations = ApiOperationSerializer(
        many=True,
        help_text="Those of the site's API that it has opted in and the user may call.",
    )


class RegistryView(ApiView):
    """What is registered for the user."""

    @operation(id="registry_read", answers={200: RegisteredSerializer})
    def get(self, request: Request) -> Response:
        """
        Read what the user may call.

        Tools by permission and policy; a page may offer fewer of them. Modules of which
        the user may call no tool are left out, with their suggestions.
        """
        parts = registered_parts()
        tools = list(_tools(request.user, parts["tools"]))
        own = {tool.name for tool in tools}
        modules = list(_modules(own, parts["modules"]))
        suggestions = {
            str(text) for module, _may in modules for text in module.suggestions
        }
        values = {
            "context": [part.name for part in parts["context"]],
            "tools": tools,
            "modules": [
                {
                    "module": module,
                    "matches": [*(module.matches or module.configured.pages)],
                    "tools": may,
                }
                for module, may in modules
            ],
            "suggestions": sorted(suggestions),
        }
        values |= {
            kind: of_user(taught(), request.user) for kind, taught in TAUGHT.items()
        }
        values["hooks"] = registry.hooks()
        anywhere = RunContext(user=request.user, run_id=NO_RUN, conversation_id=NO_RUN)
        callable_ = operations_for(anywhere, own)
        values["operations"] = [
            part.part
            for part in parts["operations"]
            if part.is_on and part.name in callable_
        ]
        return Response(
            RegisteredSerializer(values, context={"user": request.user}).data
        )


def _tools(user: Any, parts: list[RegisteredPart]) -> Iterable[ToolDefinition]:
    for tool in (part.part for part in parts):
        if tool.display.renders_only or schema_error(tool) or not may_call(user, tool):
            continue
        if tool_verdict(tool, user=user).decision != "deny":
            yield tool


def _modules(
    callable_: Collection[str], parts: list[RegisteredPart]
) -> Iterable[tuple[ContextModule, list[str]]]:
    """Return the modules of which something can be called, with the names of that."""
    for module in (part.part for part in parts):
        names = [*map(tool_name, module.tools), *module.configured.tools]
        may = [name for name in dict.fromkeys(names) if name in callable_]
        if may or not names:
            yield module, may
