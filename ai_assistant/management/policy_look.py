"""What the doctor says of the site's policy: of each tool, and of idle rules."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.db import DatabaseError

from ai_assistant import conf
from ai_assistant.exceptions import ImproperlyConfiguredAssistant
from ai_assistant.models.policy import PolicyRule
from ai_assistant.modules.resolve import module_ids
from ai_assistant.registry import registry
from ai_assistant.safety.permissions import may_call
from ai_assistant.safety.policy import judge
from ai_assistant.safety.rules import meant_by, site_rules
from ai_assistant.types import ToolDefinition


@dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """What a call of a tool would meet."""

    name: str
    decision: str
    reason: str


def named_user(name: str) -> Any:  # noqa: ANN401 - the site's user model
    """Return the user of that name, None for no name. Raise CommandError if unknown."""
    if not name:
        return None
    model = get_user_model()
    try:
        return model._default_manager.get_by_natural_key(name)  # noqa: SLF001
    except model.DoesNotExist as error:
        raise CommandError(
            f"There is no user {name!r}. Give the name with which one signs in."
        ) from error


def named_module(name: str) -> str:
    """Return the id of a module, or none for none. Raise CommandError if unknown."""
    known = module_ids()
    if name and name not in known:
        raise CommandError(
            f"There is no module {name!r}. There are: {', '.join(known)}."
        )
    return name


def judged_tools(user: Any, module: str = "") -> list[Judged]:  # noqa: ANN401
    """Return the policy of each tool, for `user` or for nobody in particular."""
    try:
        if not conf.enabled():
            return []
        return [
            _judged(tool, user, module)
            for _name, tool in sorted(registry.tools().items())
            if not tool.renders_only
        ]
    except (DatabaseError, ImproperlyConfiguredAssistant):
        return []  # the doctor has said it


def _judged(tool: ToolDefinition, user: Any, module: str) -> Judged:  # noqa: ANN401
    if user is not None and not may_call(user, tool):
        reason = f"Denied without the permission {tool.permission!r}."
        return Judged(name=tool.name, decision="deny", reason=reason)
    verdict = judge(tool, user=user, module=module)
    return Judged(name=tool.name, decision=verdict.decision, reason=verdict.reason)


def idle_rules() -> list[str]:
    """Return the rules, of rows, that mean no tool or no module."""
    modules = {"", *module_ids()}
    try:
        rows = list(PolicyRule.objects.order_by("pk"))
    except DatabaseError:
        return []
    return [
        f"{row.pk} ({row})"
        for row in rows
        if not meant_by(row.tools, registry.tools()) or row.module not in modules
    ]


def count_of_rules() -> str:
    """Return how many rules there are, in words."""
    try:
        count = len(site_rules())
    except (DatabaseError, ImproperlyConfiguredAssistant):
        return "not known"
    return f"rules of the site: {count}" if count else "as the tools say themselves"
