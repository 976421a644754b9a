"""The form of a module: what is wrong is said at its field."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django import forms
from django.contrib.admin.widgets import FilteredSelectMultiple
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy, ngettext

from ai_assistant import conf
from ai_assistant.admin.base import RowForm
from ai_assistant.configuration.problems.modules import (
    actions_of,
    feature_problem,
    models_of,
)
from ai_assistant.configuration.problems.operations import operations_of_site
from ai_assistant.configuration.profiles import profile_label
from ai_assistant.configuration.setup import registered_agents
from ai_assistant.models.module import Module
from ai_assistant.modules.base import FEATURES, LIMITS, NOT_BUILT
from ai_assistant.registry import registry
from ai_assistant.tools.api.base import Operation
from ai_assistant.tools.api.catalogue import NOT, matching
from ai_assistant.tools.arguments import schema_error

READ_ONLY = (
    *("read_only", "read_only_permission", "read_only_field", "read_only_values"),
    "read_only_reason",
)
PREFIX = "feature_"
OFFERED = tuple(name for name in FEATURES if name not in NOT_BUILT)
Choices = list[tuple[str, str]]
ON_OR_OFF = (
    ("", gettext_lazy("as its code has it")),
    ("on", gettext_lazy("on")),
    ("off", gettext_lazy("off")),
)
HELP = {
    "name": gettext_lazy(
        "With the id of a module that an app has, this limits and extends that one. "
        "With any other it is a module of its own."
    ),
    "group": gettext_lazy("For members of this group only. Empty: everybody."),
    "priority": gettext_lazy("The higher one wins where two match a page equally."),
    "pages": gettext_lazy(
        "One a line: a model as “shop.order”, or the name of a view, with “*” for "
        "anything: “admin:shop_order_*”."
    ),
    "text": gettext_lazy("Plain sentences. They are in the prompt of each step."),
    "agent": gettext_lazy("For conversations that begin on its pages."),
    "profile": gettext_lazy("The model that answers there. Empty: as without."),
    "read_only_permission": gettext_lazy(
        "As “shop.change_order”: who does not have it changes nothing there."
    ),
    "read_only_field": gettext_lazy("Of the object of the page, as “status”."),
    "read_only_values": gettext_lazy("Separated by commas, as “paid, cancelled”."),
    "read_only_reason": gettext_lazy("A sentence for the user, and for the model."),
    "steps": gettext_lazy("Calls of the model for one answer."),
    "run_s": gettext_lazy("For one answer, waits for a person not counted."),
    "tokens": gettext_lazy("Of all model calls for one answer."),
    "usd": gettext_lazy("Of one answer, where the price of the model is known."),
}


class NamesField(forms.MultipleChoiceField):
    """Names that are chosen from a list, and stored as words of a text."""

    def clean(self, value: Any) -> str:
        """Return the names as a text; whether they are there is said by the form."""
        return "\n".join(map(str, value or ()))

    def prepare_value(self, value: Any) -> Any:
        """Return the names of a stored text."""
        return value.split() if isinstance(value, str) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Return whether other names are chosen."""
        return {*(self.prepare_value(initial) or ())} != {*(data or ())}


def names_field(label: Any, help_text: Any) -> NamesField:
    """Return a field to choose names."""
    widget = FilteredSelectMultiple(label, is_stacked=False)
    return NamesField(
        label=capfirst(label), help_text=help_text, widget=widget, required=False
    )


def feature_field(label: Any) -> forms.ChoiceField:
    """Return a field that says on, off, or nothing."""
    return forms.ChoiceField(label=capfirst(label), choices=ON_OR_OFF, required=False)


class ModuleRowForm(RowForm):
    """A module that an app registers, or one made here."""

    tools = names_field(
        gettext_lazy("tools"),
        gettext_lazy(
            "With any, only these are left on its pages. None: as without the module."
        ),
    )
    data_models = names_field(
        gettext_lazy("models"),
        gettext_lazy("The tools for rows work with these only. None: with all."),
    )
    actions = names_field(
        gettext_lazy("admin actions"),
        gettext_lazy("Only these are carried out. None: all that the user has."),
    )
    api_operations = names_field(
        gettext_lazy("API operations"),
        gettext_lazy(
            "With any, only these are found and called on its pages, with the tools for "
            "it. None: all that the site has opted in."
        ),
    )
    feature_ask_user = feature_field(gettext_lazy("asks questions"))
    feature_plan = feature_field(gettext_lazy("shows a plan"))
    feature_read_only_guard = feature_field(
        gettext_lazy("changes nothing where the user may not")
    )
    feature_reasoning = feature_field(gettext_lazy("shows what the model thinks"))
    feature_rollback = feature_field(gettext_lazy("undo brings back the whole object"))
    feature_lock = feature_field(gettext_lazy("locks the object that it works on"))

    class Meta:
        model = Module
        fields = (
            *("name", "label", "group", "priority", "is_active", "pages", "text"),
            *("tools", "data_models", "actions", "api_operations", "agent", "profile"),
            *READ_ONLY,
            *LIMITS,
        )
        help_texts: ClassVar = HELP
        widgets: ClassVar = {
            "pages": forms.Textarea(
                attrs={"rows": 4, "class": "vLargeTextField", "spellcheck": "false"}
            ),
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        row = self.instance
        # A page that shows the row to who may not change it has no fields.
        for name, made in self._choices(row).items():
            if name in self.fields:
                self.fields[name].choices = made  # type: ignore[attr-defined]
                self.fields[name].widget.choices = made
        for name, made in self._selects(row).items():
            if name in self.fields:
                self.fields[name].widget = forms.Select(choices=made)
        for name in OFFERED:
            stored = row.features.get(name) if isinstance(row.features, dict) else None
            word = {True: "on", False: "off"}.get(stored, "")  # type: ignore[arg-type]
            self.initial.setdefault(f"{PREFIX}{name}", word)

    def _choices(self, row: Module) -> dict[str, Choices]:
        maker = self.maker
        return {
            "tools": _tool_choices(row.tools.split()),
            "data_models": _model_choices(maker, row.data_models.split()),
            "actions": _action_choices(maker, row.actions.split()),
            "api_operations": _operation_choices(row.api_operations.split()),
        }

    def _selects(self, row: Module) -> dict[str, Choices]:
        return {
            "agent": _agent_choices(row.agent),
            "profile": _profile_choices(row.profile),
        }

    def clean(self) -> dict[str, Any]:
        """Store the features that are on or off."""
        values: dict[str, Any] = super().clean() or self.cleaned_data
        name = values.get("name") or self.instance.name
        features = {}
        for one in OFFERED:
            is_on = values.get(f"{PREFIX}{one}") == "on"
            if not values.get(f"{PREFIX}{one}"):
                continue
            if problem := feature_problem(name, one, is_on=is_on):
                self.add_error(f"{PREFIX}{one}", problem)
            else:
                features[one] = is_on
        self.instance.features = features
        return values


# --- what may be chosen ---


def _tool_choices(chosen: Iterable[str]) -> Choices:
    """Return the tools to choose from, and those that were chosen and are gone."""
    tools = {
        name: f"{name} ({tool.effect})"
        for name, tool in sorted(registry.tools().items())
        if not tool.display.renders_only and not schema_error(tool)
    }
    return [*tools.items(), *_gone(chosen, tools)]


def _model_choices(maker: Any, chosen: Iterable[str]) -> Choices:
    """Return the models of the admin that the maker may see."""
    labels = sorted(model._meta.label_lower for model in models_of(maker))
    return [*((one, one) for one in labels), *_gone(chosen, labels)]


def _action_choices(maker: Any, chosen: Iterable[str]) -> Choices:
    """Return the actions of the admin that the maker may carry out."""
    found = actions_of(maker)
    return [*((one, one) for one in sorted(found)), *_gone(chosen, found)]


def _operation_choices(chosen: Iterable[str]) -> Choices:
    """Return the operations that the site has opted in, a line for all of a service."""
    operations = [*operations_of_site().operations.values()]
    services = sorted({one.name.rpartition(".")[0] for one in operations})
    offered = {
        **{f"{name}.*": _pattern_label(f"{name}.*", operations) for name in services},
        **{one.id: f"{one.id} ({one.method} {one.path})" for one in operations},
    }
    kept = {
        name: _pattern_label(name, operations)
        for name in chosen
        if name not in offered and matching(name, operations)
    }
    known = {**kept, **offered}
    return [*sorted(known.items()), *_gone(chosen, known)]


def _pattern_label(pattern: str, operations: Iterable[Operation]) -> str:
    count = len(matching(pattern, operations))
    if pattern.startswith(NOT):
        said = gettext("%(pattern)s (leaves out %(count)s)")
        return said % {"pattern": pattern, "count": count}
    said = ngettext(
        "%(pattern)s (%(count)s operation)", "%(pattern)s (%(count)s operations)", count
    )
    return said % {"pattern": pattern, "count": count}


def _agent_choices(chosen: str) -> Choices:
    """Return the agents."""
    names = {agent.name: str(agent) for agent in registered_agents()}
    return [("", "---------"), *names.items(), *_gone([chosen], names)]


def _profile_choices(chosen: str) -> Choices:
    """Return the profiles."""
    names = {name: profile_label(name) for name in conf.profiles()}
    return [("", "---------"), *names.items(), *_gone([chosen], names)]


def _gone(chosen: Iterable[str], known: Iterable[str]) -> Choices:
    there = {*known, ""}
    return [(one, gettext("%s (gone)") % one) for one in chosen if one not in there]
