"""What a row of the admin says of a module."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from ai_assistant.types import JSON

TUPLES = (
    *("pages", "tools", "models", "actions", "api_operations"),
    "read_only_values",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ModuleSettings:
    """
    What the site says of one module; empty: as its code has it.

    `tools` narrows: with it these are left, and those that belong to other pages come
    along. `models` and `actions` limit the tools on rows, `api_operations` those for the
    site's API.
    """

    id: str = ""  # empty: no row
    is_active: bool = True
    group: str = ""  # its name; for its members only
    priority: int = 0
    label: str = ""
    pages: tuple[str, ...] = ()  # names of views, with `*`, or models; of one made here
    text: str = ""
    tools: tuple[str, ...] = ()
    models: tuple[str, ...] = ()  # as app.model
    actions: tuple[str, ...] = ()  # as app.model.action
    api_operations: tuple[str, ...] = ()  # as API_OPERATIONS has them
    features: Mapping[str, bool] = field(default_factory=dict)
    limits: Mapping[str, JSON] = field(default_factory=dict)  # of one answer, by name
    agent: str = ""
    profile: str = ""
    read_only: bool = False
    read_only_permission: str = ""
    read_only_field: str = ""
    read_only_values: tuple[str, ...] = ()
    read_only_reason: str = ""

    def values(self) -> dict[str, JSON]:
        """Return what it says as JSON."""
        said = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in said.items()
            if value != getattr(NO_SETTINGS, name)
        }

    @classmethod
    def of(cls, values: Mapping[str, JSON]) -> Self:
        """Return it from what `values` returned, by this version or an older one."""
        known = {one.name for one in fields(cls)}
        said: dict[str, Any] = {
            name: tuple(value) if name in TUPLES else value
            for name, value in values.items()
            if name in known
        }
        return cls(**said)


NO_SETTINGS = ModuleSettings()
