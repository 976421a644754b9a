"""Modules as the site's rows have them: limited, extended, off, or made of rows alone."""

from copy import copy
from typing import Any, ClassVar

from ai_assistant.changes.values import model_of_label
from ai_assistant.modules.base import FEATURES, NOT_BUILT, ContextModule
from ai_assistant.modules.settings import ModuleSettings
from ai_assistant.safety.identity.permissions import groups_of
from ai_assistant.types import PageInfo, RunContext

# What protects rows: only what code marks as `configurable` is switched off by a row.
GUARDS = frozenset({"read_only_guard", "lock", "rollback"})


class _Configured(ContextModule):
    """What a row adds to a module; put before its class."""

    def is_read_only(self, context: RunContext) -> bool:
        """Return what the module says, or what its row does."""
        return super().is_read_only(context) or is_locked(self.configured, context)

    def get_read_only_reason(self, context: RunContext) -> str:
        """Return the reason of who says so."""
        if super().is_read_only(context):
            return super().get_read_only_reason(context)
        return self.configured.read_only_reason

    def get_label(self, context: RunContext) -> str:
        """Return the label of the row, if it has one."""
        return self.configured.label or super().get_label(context)


class _SwitchedOff(ContextModule):
    """
    A module that is off: it offers nothing.

    What it forbids, validates, locks and can bring back stays: a row loosens nothing.
    """

    label = ""
    tools: ClassVar[Any] = ()
    overrides: ClassVar[Any] = {}
    prompt = ""
    skills: ClassVar[Any] = ()
    suggestions: ClassVar[Any] = ()

    def get_tools(self, context: RunContext) -> Any:
        return ()

    def get_prompt(self, context: RunContext) -> str:
        return ""

    def get_suggestions(self, context: RunContext) -> Any:
        return ()

    def get_label(self, context: RunContext) -> str:
        return ""


def configured(module: ContextModule, settings: ModuleSettings) -> ContextModule:
    """Return a registered module as a row has it."""
    made = _with_class(module, _Configured)
    made.configured = settings
    made.features = features_of(module, settings)  # type: ignore[misc] # of its own
    return made


def switched_off(module: ContextModule) -> ContextModule:
    """Return a registered module that offers nothing, and still forbids what it does."""
    return _with_class(module, _SwitchedOff)


def made_of(settings: ModuleSettings) -> ContextModule:
    """Return a module that a row makes."""
    made = configured(ContextModule(), settings)
    made.id, made.label = settings.id, settings.label or settings.id
    return made


def is_for(settings: ModuleSettings, user: Any) -> bool:
    """
    Return whether a row is for a user; without one, as for those for whom it is.

    May ask the database for their groups.
    """
    if not settings.group or user is None:
        return True
    return settings.group in groups_of(user).values()


def is_locked(settings: ModuleSettings, context: RunContext) -> bool:
    """Return whether a row lets nothing be changed on the page, or of its object."""
    if settings.read_only:
        return True
    permission = settings.read_only_permission
    if permission and not context.user.has_perm(permission):
        return True
    return bool(settings.read_only_field) and _has_value(settings, context.page)


def _has_value(settings: ModuleSettings, page: PageInfo) -> bool:
    model = model_of_label(f"{page.app_label}.{page.model_name}")
    if model is None or not page.object_id:
        return False
    rows = model._base_manager.filter(pk=page.object_id)
    found = rows.values_list(settings.read_only_field, flat=True)
    return any(str(value) in settings.read_only_values for value in found)


def features_of(module: ContextModule, settings: ModuleSettings) -> dict[str, bool]:
    """Return the features of a module, without what its row may not say."""
    wanted = {
        name: is_on
        for name, is_on in settings.features.items()
        if may_set(module, name, is_on=is_on)
    }
    return {**module.features, **wanted}


def may_set(module: ContextModule, name: str, *, is_on: bool) -> bool:
    """
    Return whether a row may switch a feature of a module on or off.

    Not a guard off that is on, unless code marks it; nor on what its code cannot do.
    """
    if name not in FEATURES or name in NOT_BUILT:
        return False
    if is_on:
        return name != "rollback" or can_roll_back(type(module))
    is_loosened = name in GUARDS and module.has(name)
    return not is_loosened or name in module.configurable


def can_roll_back(module_class: type[ContextModule]) -> bool:
    """Return whether the class has what the feature `rollback` needs."""
    base = ContextModule
    return (
        module_class.take_snapshot is not base.take_snapshot
        and module_class.apply_rollback is not base.apply_rollback
    )


def _with_class(module: ContextModule, first: type[Any]) -> ContextModule:
    made, own = copy(module), type(module)
    # Named as its own class: logs and checks say which code it is.
    names = {"id": module.id, "__module__": own.__module__}
    made.__class__ = type(own.__name__, (first, own), names)
    return made
