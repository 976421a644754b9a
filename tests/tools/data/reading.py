"""Calls of the data tools as the engine makes them, and users to make them as."""

import json
import uuid
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission

from ai_assistant import ModelRetry, RunContext
from ai_assistant.registry import registry
from ai_assistant.tools.arguments import validate_arguments
from ai_assistant.tools.result import from_exception, from_value
from ai_assistant.types import PageInfo, ToolResult

READ_TOOLS = (
    "list_models",
    "describe_model",
    "search_objects",
    "get_object",
    "aggregate_objects",
    "find_related",
    "object_history",
)


def context_of(user: Any, view_name: str = "") -> RunContext:
    return RunContext(
        user=user,
        run_id=uuid.uuid4(),
        conversation_id=uuid.uuid4(),
        page=PageInfo(view_name=view_name),
    )


def call(name: str, user: Any, **arguments: Any) -> Any:
    """Return the data of the result. Raise what the tool raises."""
    tool = registry.tool(name)
    given = validate_arguments(tool, arguments)
    result = from_value(name, tool.handler(context_of(user), **given))
    assert result.ok, result.error
    return result.data


def try_call(name: str, user: Any, **arguments: Any) -> ToolResult:
    """Return the result, that of a refusal too. Raise all that is a fault."""
    try:
        return from_value(name, call(name, user, **arguments))
    except ModelRetry as error:
        return from_exception(name, error)


def text_of(result: ToolResult) -> str:
    """Return all that a model could read of the result."""
    said = [result.data, result.error, result.suggestion, result.schema_hint]
    return json.dumps(said, ensure_ascii=False, default=str)


def staff(name: str, *codenames: str) -> Any:
    """Return a member of staff with these permissions."""
    user = get_user_model().objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=codenames))
    return get_user_model().objects.get(pk=user.pk)  # without cached permissions
