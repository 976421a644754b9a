"""What a file of configuration holds: a section for each model, and how its rows look."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext as _

from ai_assistant.models.configuration import (
    Agent,
    Instruction,
    Memory,
    Profile,
    PromptCommand,
    Skill,
    Suggestion,
)
from ai_assistant.models.module import Module
from ai_assistant.models.policy import PolicyRule
from ai_assistant.models.usage import Budget

NOBODYS = {"owner": None}  # not what persons keep for themselves


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """
    A section of the file.

    A row is known again by its `key`; of several with the same key by their order.
    `left_out` names fields that no file holds, such as keys.
    """

    section: str
    model: type[models.Model]
    key: tuple[str, ...] = ("name",)
    only: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()

    def rows(self) -> Any:
        """Return the rows of the site, in the order of the file."""
        return self.model._default_manager.filter(**self.only).order_by(*self.key, "pk")

    def fields(self) -> Iterator[Any]:
        """Yield the fields that a file holds."""
        options = self.model._meta
        for one in (*options.concrete_fields, *options.many_to_many):
            is_kept = one.name not in self.left_out and one.name not in self.only
            if is_kept and one.editable and not one.primary_key:
                yield one


# The later ones may name rows of the earlier ones.
KINDS: tuple[Kind, ...] = (
    Kind(section="profiles", model=Profile),
    Kind(section="instructions", model=Instruction),
    Kind(section="skills", model=Skill),
    Kind(section="commands", model=PromptCommand, only=NOBODYS),
    Kind(section="agents", model=Agent),
    Kind(section="modules", model=Module),
    Kind(section="suggestions", model=Suggestion),
    Kind(
        section="policy_rules",
        model=PolicyRule,
        key=("tools", "decision", "module", "group"),
    ),
    Kind(section="budgets", model=Budget, key=("scope", "window", "group", "user")),
    Kind(section="memories", model=Memory, key=("text", "group"), only=NOBODYS),
)


def kind_of(model: type[models.Model]) -> Kind | None:
    """Return the kind of a model; None of one that is in no file."""
    return next((kind for kind in KINDS if kind.model is model), None)


def values_of(kind: Kind, row: Any) -> dict[str, Any]:
    """Return a row as the file has it; what is as in a new row is left out."""
    values = {}
    for one in kind.fields():
        value = _named(one, row) if one.is_relation else _plain(getattr(row, one.name))
        if value != ([] if one.many_to_many else _plain(one.get_default())):
            values[one.name] = value
    return values


def differing(
    kind: Kind, before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[tuple[str, Any, Any]]:
    """Return the label of each field that differs, and both of its values."""
    labels = {one.name: str(one.verbose_name) for one in kind.fields()}
    return [
        (label, before.get(name), after.get(name))
        for name, label in labels.items()
        if before.get(name) != after.get(name)
    ]


def key_of(kind: Kind, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what names a row, of its values in the file."""
    return tuple(str(values.get(name, "")) for name in kind.key)


def set_values(kind: Kind, row: Any, values: Mapping[str, Any]) -> dict[str, list[Any]]:
    """
    Set the fields of a row to what the file says; those it leaves out to the default.

    Return the rows of fields of many, which are set once the row is stored. Raise
    ValidationError, by field, for what cannot be.
    """
    many: dict[str, list[Any]] = {}
    wrong: dict[str, list[str]] = {}
    for name in values.keys() - {one.name for one in kind.fields()}:
        wrong[name] = [_("There is no such field.")]
    for one in kind.fields():
        try:
            if one.many_to_many:
                many[one.name] = _named_rows(one, values.get(one.name, []))
            elif one.name in values:
                setattr(row, one.name, _stored(one, values[one.name]))
            else:
                setattr(row, one.name, one.get_default())
        except ValidationError as error:
            wrong[one.name] = error.messages
    if wrong:
        raise ValidationError(wrong)
    return many


def _named(one: Any, row: Any) -> Any:
    """Return the name of a related row, or the names of several."""
    if one.many_to_many:
        return sorted(str(_name_of(other)) for other in getattr(row, one.name).all())
    other = getattr(row, one.name)
    return None if other is None else _name_of(other)


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    is_plain = isinstance(value, str | int | float | bool | dict | list | None)
    return value if is_plain else str(value)


def _stored(one: Any, value: Any) -> Any:
    """Return the value of the file as the field holds it."""
    if isinstance(one, models.JSONField):
        return value
    if isinstance(value, list | dict):
        raise ValidationError(_("This is one value, not several."))
    if value is None:
        return one.get_default()
    if one.is_relation:
        return _named_row(one.related_model, value)
    if isinstance(one, models.BooleanField) and not isinstance(value, bool):
        raise ValidationError(_("Write true or false."))
    is_text = isinstance(one, models.CharField | models.TextField)
    # What YAML takes for a number or a date was meant as a text.
    return str(value) if is_text or isinstance(value, date) else value


def _named_rows(one: Any, names: Any) -> list[Any]:
    if not isinstance(names, list):
        raise ValidationError(_("This is a list of names."))
    return [_named_row(one.related_model, name) for name in names]


def _named_row(model: Any, name: Any) -> Any:
    found = model._default_manager.filter(**{_name_field(model): str(name)}).first()
    if found is None:
        sentence = _("There is no %(what)s “%(name)s” on this site.")
        what = model._meta.verbose_name
        raise ValidationError(sentence % {"what": what, "name": name})
    return found


def _name_of(row: Any) -> Any:
    return getattr(row, _name_field(type(row)))


def _name_field(model: Any) -> str:
    if model is get_user_model():
        return str(model.USERNAME_FIELD)
    return "name"  # of groups, and of rows of configuration
