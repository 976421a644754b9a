"""What is wrong with the rows of modules."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Permission
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model
from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.changes.values import model_of_label
from ai_assistant.configuration.modules import is_sound, settings_of
from ai_assistant.configuration.problems.operations import (
    operation_problems,
)
from ai_assistant.configuration.setup import registered_agents
from ai_assistant.models.module import (
    Module,
    operation_errors,
    page_errors,
)
from ai_assistant.modules.base import FEATURES, ContextModule
from ai_assistant.modules.configured import may_set
from ai_assistant.modules.pages import (
    ListedPage,
    Selected,
    pages_of,
    selected_by,
    site_pages,
)
from ai_assistant.modules.resolve import DEFAULT, registered_modules
from ai_assistant.providers import price_list
from ai_assistant.providers.base import DIRECT, LITELLM, provider_path
from ai_assistant.providers.prices import has_prices
from ai_assistant.registry import registry
from ai_assistant.safety.identity.permissions import may_call
from ai_assistant.safety.policy.policy import tool_verdict
from ai_assistant.safety.policy.sensitive import is_sensitive_field
from ai_assistant.tools.api.catalogue import OF_API
from ai_assistant.tools.data.access.model_admin import access_of

LISTED = (DIRECT, LITELLM)  # who go by litellm's list of prices


def at_fields(problems: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
    """Yield each field with each of its problems."""
    return ((field, said) for field, every in problems.items() for said in every)


def made_problems(row: Module, maker: Any) -> Iterator[tuple[str, str]]:
    """
    Yield the field and a sentence for what cannot be in a row that is saved.

    `maker` is who makes the row: what they may not use cannot be chosen. None stands
    for the shell of the site.
    """
    if row.name == DEFAULT.id:
        said = _("“%(id)s” stands for pages without a module. Choose another id.")
        yield "name", said % {"id": row.name}
    for name, is_on in row.features.items() if is_sound(row) else ():
        if problem := feature_problem(row.name, name, is_on=is_on):
            yield "features", problem
    if row.is_active:  # what is off can always be kept: it offers nothing
        yield from _active_problems(row, maker)


def _active_problems(row: Module, maker: Any) -> Iterator[tuple[str, str]]:
    selected = selected_pages(row)
    several = {
        "pages": _pages_problems(row, selected),
        "tools": tools_problems(row.tools.split(), maker, row.name),
        "data_models": _labels_problems(row.data_models.split(), maker),
        "actions": _actions_problems(row.actions.split(), maker),
        "api_operations": _operations_problems(row, maker),
    }
    yield from at_fields(several)
    path, permission = row.read_only_field, row.read_only_permission
    single = {
        "agent": row.agent and agent_error(row.agent, row.name),
        "profile": row.profile and profile_error(row.profile),
        "usd": row.usd is not None and price_error(row.profile or conf.DEFAULT),
        "read_only_permission": permission and permission_problem(permission),
        "read_only_field": path and field_problem(path, selected),
    }
    yield from ((field, problem) for field, problem in single.items() if problem)


def feature_problem(module: str, feature: str, *, is_on: bool) -> str:
    """Return why a feature of a module cannot be switched so."""
    if feature not in FEATURES:
        said = _("There is no feature “%(name)s”. There are: %(known)s.")
        return said % {"name": feature, "known": ", ".join(FEATURES)}
    if may_set(code_of(module) or ContextModule(), feature, is_on=is_on):
        return ""
    if is_on:
        return _("The code of this module has no snapshots that would bring it back.")
    return _("This protects rows: only code may let it be switched off.")


def _pages_problems(row: Module, selected: Selected) -> Iterator[str]:
    if is_of_code(row.name):
        if row.pages.strip():
            yield _("An app has this module, and says on which pages it is.")
    elif not row.pages.strip():
        yield _("Say on which pages it is.")
    elif not [*page_errors(row.pages)]:  # those the row itself says
        yield from selected_errors(selected)


def tools_problems(names: Iterable[str], maker: Any, module: str) -> Iterator[str]:
    """Yield why tools cannot be chosen: one that is gone, or not the maker's own."""
    yield from gone_tools(names)
    for tool in filter(None, map(registry.tool, names)) if maker else ():
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


def _labels_problems(labels: Iterable[str], maker: Any) -> Iterator[str]:
    if not maker:
        yield from gone_models(labels)
        return
    yield from _unknown(labels, (model._meta.label_lower for model in models_of(maker)))


def _actions_problems(names: Iterable[str], maker: Any) -> Iterator[str]:
    names = [*names]
    if not maker:
        yield from gone_models(name.rpartition(".")[0] for name in names)
    elif names:
        yield from _unknown(names, actions_of(maker))


def _operations_problems(row: Module, maker: Any) -> Iterator[str]:
    names = row.api_operations.split()
    if not names or [*operation_errors(row.api_operations)]:
        return  # those the row itself says
    yield from operation_problems(names, maker)
    yield from tools_problems(sorted(OF_API), maker, row.name)


def _unknown(names: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    there = {*known}
    for name in names:
        if name not in there:
            said = _("You see no “%(name)s” in the admin. Leave it out.")
            yield said % {"name": name}


def models_of(maker: Any) -> list[type[Model]]:
    """Return the models of the admin that the maker may see."""
    return [model for model in apps.get_models() if access_of(maker, model) is not None]


def actions_of(maker: Any) -> list[str]:
    """Return the actions of the admin that the maker may carry out."""
    return [
        f"{model._meta.label_lower}.{name}"
        for model in models_of(maker)
        if (access := access_of(maker, model)) is not None
        for name in access.model_admin.get_actions(access.request)
        if name != "delete_selected"
    ]


def permission_problem(text: str) -> str:
    """Return what is wrong with the name of a permission."""
    app, _dot, codename = text.partition(".")
    there = Permission.objects.filter(content_type__app_label=app, codename=codename)
    if there.exists():
        return ""
    return _("There is no permission “%(name)s”. Write it as “shop.change_order”.") % {
        "name": text
    }


def field_problem(path: str, selected: Selected) -> str:
    """Return why no page has an object with the field, or why it may not decide."""
    labels = {(page.info.app_label, page.info.model_name) for page in selected.pages}
    models = [apps.get_model(*label) for label in sorted(labels) if all(label)]
    found = [error for model in models if (error := _path_problem(model, path))]
    if models and len(found) < len(models):
        return ""
    named = {"field": path}
    return found[0] if found else _("None of its pages has a “%(field)s”.") % named


def _path_problem(model: type[Model], path: str) -> str:
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


def is_of_code(name: str) -> bool:
    """Return whether it is the id of a registered module, or of a built-in one."""
    return code_of(name) is not None


def code_of(name: str) -> ContextModule | None:
    """Return the registered or built-in module of an id."""
    return next((one for one in registered_modules() if one.id == name), None)


def selected_pages(row: Module, pages: list[ListedPage] | None = None) -> Selected:
    """Return the pages of the site that a row selects, or would if it were on."""
    if (code := code_of(row.name)) is not None:
        return Selected(pages=pages_of(code))
    if not row.pages or not is_sound(row):
        return Selected()
    settings = replace(settings_of(row), is_active=True)
    return selected_by(settings, site_pages() if pages is None else pages)


def selected_errors(selected: Selected) -> Iterator[str]:
    """Yield what is wrong with the pages of a module that is made here."""
    for line in selected.idle:
        yield _("No page of this site fits “%(page)s”.") % {"page": line}
    for other, pages in selected.equal.items():
        named = {"module": other, "pages": ", ".join(page.label for page in pages[:3])}
        yield (
            _(
                "The module “%(module)s” fits some pages equally: %(pages)s. Give one "
                "of the two a higher priority, or more specific pages."
            )
            % named
        )
    if selected.of_code and not selected.pages:
        named = {"modules": ", ".join(selected.of_code)}
        yield (
            _("All of these pages have a module already: %(modules)s. Change that one.")
            % named
        )


def gone_tools(names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each tool that is not registered any more."""
    for name in names:
        if registry.tool(name) is None:
            yield (
                _("There is no tool “%(name)s” any more. Leave it out.")
                % {"name": name}
            )


def gone_models(labels: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each model that is not installed any more."""
    for label in labels:
        if model_of_label(label) is None:
            yield (
                _("There is no model “%(name)s” any more. Leave it out.")
                % {"name": label}
            )


def agent_error(name: str, module: str) -> str:
    """Return why the agent cannot be that of the module."""
    agent = next((one for one in registered_agents() if one.name == name), None)
    if agent is None:
        said = _("There is no agent “%(agent)s” any more. Choose another one.")
        return said % {"agent": name}
    if not agent.works_in(module):
        said = _(
            "The agent “%(agent)s” works without this module: its own modules leave it "
            "out. Add it there, or choose another agent."
        )
        return said % {"agent": name}
    return ""


def profile_error(name: str) -> str:
    """Return why the profile cannot be that of a module."""
    if name in conf.profiles():
        return ""
    said = _("There is no profile “%(profile)s” any more. Choose another one.")
    return said % {"profile": name}


def price_error(name: str) -> str:
    """Return why a limit of costs would not hold for the model of a profile."""
    profile = conf.profiles().get(name, {})
    model = str(profile.get("MODEL") or "")
    # Of another provider it may know the price, and asking may take long.
    is_known = provider_path(profile) not in LISTED or price_list.facts_of(model)
    if not model or has_prices(profile) or is_known:
        return ""
    said = _(
        "The price of the model of the profile “%(profile)s” is not known, so that its "
        "calls count as nothing: limit tokens instead."
    )
    return said % {"profile": name}
