"""What is wrong with the rows of modules: said at the field, by the doctor, and on pages."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from ai_assistant import conf
from ai_assistant.changes.values import model_of_label
from ai_assistant.configuration.modules import is_sound, settings_of
from ai_assistant.configuration.rows import rows_of
from ai_assistant.configuration.setup import registered_agents
from ai_assistant.models.module import Module, features_error, page_errors
from ai_assistant.modules.pages import Selected, pages_of, selected_by
from ai_assistant.modules.resolve import registered_modules
from ai_assistant.providers import price_list
from ai_assistant.providers.base import DIRECT, LITELLM, provider_path
from ai_assistant.providers.prices import has_prices
from ai_assistant.registry import registry

LISTED = (DIRECT, LITELLM)  # who go by litellm's list of prices


@dataclass(frozen=True, kw_only=True, slots=True)
class ModuleProblem:
    """A sentence on one row."""

    row: Module
    text: str


def module_problems() -> list[ModuleProblem]:
    """Return what is wrong with the rows that are on. Seldom asks the database."""
    return [
        ModuleProblem(row=row, text=text)
        for row in rows_of(Module)
        if row.is_active
        for text in _problems(row)
    ]


def _problems(row: Module) -> Iterator[str]:
    if not is_sound(row):
        yield from page_errors(row.pages)
        yield from filter(None, [features_error(row.features)])
        return
    if not is_of_code(row.name):
        yield from selected_errors(selected_pages(row))
    yield from gone_tools(row.tools.split())
    yield from gone_models(row.data_models.split())
    if row.agent and (error := agent_error(row.agent, row.name)):
        yield error
    if row.profile and (error := profile_error(row.profile)):
        yield error
    if row.usd is not None and (error := price_error(row.profile or conf.DEFAULT)):
        yield error


def is_of_code(name: str) -> bool:
    """Return whether it is the id of a registered module, or of a built-in one."""
    return any(module.id == name for module in registered_modules())


def selected_pages(row: Module) -> Selected:
    """Return the pages that a row selects, or would if it were on."""
    code = next((one for one in registered_modules() if one.id == row.name), None)
    if code is not None:
        return Selected(pages=pages_of(code))
    if not row.pages or not is_sound(row):
        return Selected()
    return selected_by(replace(settings_of(row), is_active=True))


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
