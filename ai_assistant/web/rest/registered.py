from collections.abc import Collection, Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.exceptions import Refused
from ai_assistant.models.token import AccessToken
from ai_assistant.modules.base import ContextModule, tool_name
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import may_call, may_use
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.tools.arguments import function_schema, schema_error
from ai_assistant.types import ToolDefinition
from ai_assistant.web.cors import allow
from ai_assistant.web.problems import problem_response
from ai_assistant.web.rest.base import ApiView, answered, caller_of
from ai_assistant.web.rest.reading import Query, read_query
from ai_assistant.web.rest.shapes import JSON, Shape, operation


class ToolShape(Shape):
    """A tool that the user may call."""

    name: str
    label: str
    description: str
    effect: str = Field(description="read, ui, write or destructive")
    policy: str = Field(
        description="`allow` or `ask`: whether each call waits for a person"
    )
    background: bool
    browser: bool = Field(description="It is executed by a page.")
    parameters: dict[str, JSON] = Field(description="A JSON Schema.")


class ModuleShape(Shape):
    """What the assistant is on some pages."""

    id: str
    label: str
    matches: list[str] = Field(description="Names of views; `*` matches anything.")
    tools: list[str] = Field(description="Those of its tools that the user may call.")


class RegisteredShape(Shape):
    """What the site's apps have registered, as far as the user may call it."""

    context: list[str]
    tools: list[ToolShape]
    commands: list[str]
    skills: list[str]
    hooks: list[str]
    modules: list[ModuleShape]
    suggestions: list[str]


class RootShape(Shape):
    """Where everything is, and what the caller may do."""

    user: str
    scopes: list[str] = Field(description="What the caller may do: read, run, approve.")
    addresses: dict[str, str]


class RegistryView(ApiView):
    """What is registered for the user."""

    @operation(
        "registry_read",
        "Read what the user may call",
        about="Tools by permission and policy; a page may offer fewer of them. Modules "
        "of which the user may call no tool are left out, with their suggestions.",
        query=Query,
        answers={200: RegisteredShape},
    )
    def get(self, request: Request) -> Response:
        """Return tools, modules and what else there is."""
        read_query(request, Query)
        tools = list(_tools(request.user))
        modules = list(_modules({tool.name for tool in tools}))
        return answered(
            RegisteredShape(
                context=sorted(registry.contexts()),
                tools=tools,
                commands=[],
                skills=[],
                hooks=[],
                modules=[_module(one, names) for one, names in modules],
                suggestions=sorted(
                    {str(text) for one, _names in modules for text in one.suggestions}
                ),
            )
        )


def _tools(user: Any) -> Iterable[ToolShape]:
    for name, tool in sorted(registry.tools().items()):
        if tool.display.renders_only or schema_error(tool) or not may_call(user, tool):
            continue
        decision = tool_verdict(tool, user=user).decision
        if decision != "deny":
            yield _tool(name, tool, decision)


def _tool(name: str, tool: ToolDefinition, decision: str) -> ToolShape:
    return ToolShape(
        name=name,
        label=str(tool.display.label),
        description=tool.description,
        effect=tool.effect,
        policy=decision,
        background=tool.execution.background,
        browser=tool.execution.browser,
        parameters=function_schema(tool)["function"]["parameters"],
    )


def _modules(callable_: Collection[str]) -> Iterable[tuple[ContextModule, list[str]]]:
    """Return the modules of which something can be called, with the names of that."""
    for _id, module in sorted(registry.modules().items()):
        names = [tool_name(tool) for tool in module.tools]
        may = [name for name in names if name in callable_]
        if may or not names:
            yield module, may


def _module(module: ContextModule, names: list[str]) -> ModuleShape:
    return ModuleShape(
        id=module.id,
        label=str(module.label),
        matches=list(module.matches),
        tools=names,
    )


LISTS = (
    *("conversations", "runs", "interrupts", "calls", "changes", "usage"),
    *("usage-sums", "registry", "schema"),
)


class RootView(ApiView):
    """Where everything is."""

    @operation(
        "root_read", "List the URLs of the API", query=Query, answers={200: RootShape}
    )
    def get(self, request: Request) -> Response:
        """Return the addresses, and what the caller may do."""
        read_query(request, Query)
        caller = caller_of(request)
        every = AccessToken.Scope.values
        scopes = [
            one
            for one in every
            if caller.has_scope(one)
            and (one == AccessToken.Scope.READ or may_use(caller.user))
        ]
        return answered(
            RootShape(
                user=caller.user.get_username(),
                scopes=scopes,
                addresses={
                    name: request.build_absolute_uri(
                        reverse(f"ai_assistant:api-{name}")
                    )
                    for name in LISTS
                },
            )
        )


@csrf_exempt
def nothing_here(request: HttpRequest) -> HttpResponse:
    """Answer for an address that is none, as the API answers everything."""
    sentence = _("Unknown URL. The schema of the API lists all of them.")
    response = problem_response(Refused("not_found", sentence))
    allow(request, response)
    return response
