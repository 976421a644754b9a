"""What may be chosen for a module, and why its maker may not choose it."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Permission
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.configuration.module_problems import gone_tools
from ai_assistant.configuration.profiles import profile_label
from ai_assistant.configuration.setup import registered_agents
from ai_assistant.modules.pages import Selected
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import may_call
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.safety.policy.sensitive import is_sensitive_field
from ai_assistant.tools.arguments import schema_error
from ai_assistant.tools.data.access.model_admin import access_of

Choices = list[tuple[str, str]]


def tool_choices(chosen: Iterable[str]) -> Choices:
    """Return the tools to choose from, and those that were chosen and are gone."""
    tools = {
        name: f"{name} ({tool.effect})"
        for name, tool in sorted(registry.tools().items())
        if not tool.display.renders_only and not schema_error(tool)
    }
    return [*tools.items(), *_gone(chosen, tools)]


def tools_error(names: Iterable[str], maker: Any, module: str) -> Iterator[str]:
    """Yield why tools cannot be chosen: one that is gone, or not the maker's own."""
    yield from gone_tools(names)
    for tool in filter(None, map(registry.tool, names)):
        named = {"name": tool.name, "permission": tool.permission}
        if not may_call(maker, tool):
            yield (
                _(
                    "You may not use “%(name)s” yourself: that needs the permission "
                    "“%(permission)s”."
                )
                % named
            )
        elif tool_verdict(tool, user=maker, module=module).decision == "deny":
            yield _("“%(name)s” is denied to you here. Leave it out.") % named


def model_choices(maker: Any, chosen: Iterable[str]) -> Choices:
    """Return the models of the admin that the maker may see."""
    labels = sorted(model._meta.label_lower for model in _models_of(maker))
    return [*((one, one) for one in labels), *_gone(chosen, labels)]


def action_choices(maker: Any, chosen: Iterable[str]) -> Choices:
    """Return the actions of the admin that the maker may carry out."""
    found = [
        f"{model._meta.label_lower}.{name}"
        for model in _models_of(maker)
        for name in _actions_of(maker, model)
    ]
    return [*((one, one) for one in sorted(found)), *_gone(chosen, found)]


def unknown_error(names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each name that is not there for the maker."""
    there = {*known}
    for name in names:
        if name not in there:
            yield _("You see no “%(name)s” in the admin. Leave it out.") % {
                "name": name
            }


def agent_choices(chosen: str) -> Choices:
    """Return the agents."""
    names = {agent.name: str(agent) for agent in registered_agents()}
    return [("", "---------"), *names.items(), *_gone([chosen], names)]


def profile_choices(chosen: str) -> Choices:
    """Return the profiles."""
    names = {name: profile_label(name) for name in conf.profiles()}
    return [("", "---------"), *names.items(), *_gone([chosen], names)]


def permission_error(text: str) -> str:
    """Return what is wrong with the name of a permission."""
    app, _dot, codename = text.partition(".")
    there = Permission.objects.filter(content_type__app_label=app, codename=codename)
    if there.exists():
        return ""
    return _("There is no permission “%(name)s”. Write it as “shop.change_order”.") % {
        "name": text
    }


def field_error(path: str, selected: Selected) -> str:
    """Return why no page has an object with the field, or why it may not decide."""
    labels = {(page.info.app_label, page.info.model_name) for page in selected.pages}
    models = [apps.get_model(*label) for label in sorted(labels) if all(label)]
    found = [error for model in models if (error := _path_error(model, path))]
    if models and len(found) < len(models):
        return ""
    named = {"field": path}
    return found[0] if found else _("None of its pages has a “%(field)s”.") % named


def _path_error(model: type[Model], path: str) -> str:
    named = {"field": path}
    at: Any = model
    for name in path.split("__"):
        try:
            field = at._meta.get_field(name)
        except (FieldDoesNotExist, AttributeError):
            return _("None of its pages has a “%(field)s”.") % named
        if is_sensitive_field(field):
            return _("“%(field)s” is kept from the assistant.") % named
        at = field.related_model
    return ""


def _models_of(maker: Any) -> list[type[Model]]:
    return [m for m in apps.get_models() if access_of(maker, m) is not None]


def _actions_of(maker: Any, model: type[Model]) -> list[str]:
    access = access_of(maker, model)
    if access is None:
        return []
    names = access.model_admin.get_actions(access.request)
    return [name for name in names if name != "delete_selected"]


def _gone(chosen: Iterable[str], known: Iterable[str]) -> Choices:
    there = {*known, ""}
    return [(one, _("%s (gone)") % one) for one in chosen if one not in there]
