from collections.abc import Collection, Iterable
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from ai_assistant.modules.base import ContextModule, tool_name
from ai_assistant.registry import registry
from ai_assistant.safety.permissions import may_call
from ai_assistant.safety.policy import judge
from ai_assistant.tools.schema import function_schema, schema_error
from ai_assistant.types import ToolDefinition
from ai_assistant.web.rest.base import ApiView, answered
from ai_assistant.web.rest.operation import operation
from ai_assistant.web.rest.reading import Query, read_query
from ai_assistant.web.rest.shapes.registered import (
    ModuleShape,
    RegisteredShape,
    ToolShape,
)


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


def _tools(user: Any) -> Iterable[ToolShape]:  # noqa: ANN401 - the site's user model
    for name, tool in sorted(registry.tools().items()):
        if tool.renders_only or schema_error(tool) or not may_call(user, tool):
            continue
        decision = judge(tool, user=user).decision
        if decision != "deny":
            yield _tool(name, tool, decision)


def _tool(name: str, tool: ToolDefinition, decision: str) -> ToolShape:
    return ToolShape(
        name=name,
        label=str(tool.label),
        description=tool.description,
        effect=tool.effect,
        policy=decision,
        background=tool.background,
        browser=tool.browser,
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
