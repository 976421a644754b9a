"""
The rows of configuration, kept in each process until they change.

A message costs at most one query for them: that for the number of their version,
which is another one after each change.
"""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.db.models.signals import post_delete, post_save

from ai_assistant import conf
from ai_assistant.conf import StoredProfiles
from ai_assistant.configuration.profiles import stored_profiles
from ai_assistant.models.configuration import (
    Agent,
    ConfigurationRow,
    ConfigurationVersion,
    Instruction,
    Memory,
    Profile,
    PromptCommand,
    Skill,
    Suggestion,
)
from ai_assistant.models.module import Module
from ai_assistant.models.row_cache import RowCache
from ai_assistant.types import Placement

KINDS: tuple[type[ConfigurationRow], ...] = (
    Instruction,
    Skill,
    PromptCommand,
    Suggestion,
    Agent,
    Module,
)
ONLY = 1  # the key of the one row


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of each model, as they were at a version."""

    number: int
    by_model: dict[type[models.Model], tuple[Any, ...]]


_rows = Rows(-1, {})


def rows_of(model: type[ConfigurationRow]) -> Iterable[Any]:
    """Return the rows of a model, by priority and name. Seldom asks the database."""
    number = refresh()
    found = _rows.by_model.get(model)
    if found is None:
        found = tuple(_read(model))
        if version.get() == number:
            _rows.by_model[model] = found
    return found


def refresh() -> int:
    """
    Let rows that were changed hold in this process, and return their version.

    From then on `conf.profiles()` has those that are model profiles, which code on an
    event loop reads. Seldom asks the database.
    """
    global _rows  # noqa: PLW0603 - the cache of the process
    number = version.get()
    if _rows.number != number:
        # Without a version nobody has ever saved a row.
        found = list(Profile.objects.order_by("name")) if number else []
        conf.use_stored_profiles(stored_profiles(found))
        _rows = Rows(number, {})
    return number


def forget() -> None:
    """Read all rows again when they are next needed."""
    global _rows  # noqa: PLW0603 - the cache of the process
    version.forget()
    if _rows.number:  # else there were none
        conf.use_stored_profiles(StoredProfiles())
        _rows = Rows(-1, {})


def placement_of(row: ConfigurationRow) -> Placement:
    """Return where a row applies."""
    return Placement(
        module=row.module,
        model=row.model,
        view=row.view,
        group=row.group.name if row.group else "",
        language=row.language,
    )


def _read(model: type[ConfigurationRow]) -> Iterator[Any]:
    manager = model._default_manager
    yield from manager.select_related("group").order_by("-priority", "name", "pk")


def _read_version() -> int:
    numbers = ConfigurationVersion.objects.filter(pk=ONLY)
    return numbers.values_list("number", flat=True).first() or 0


def _changed(**_: Any) -> None:
    """Let all processes read the rows again, from the commit of this change on."""
    # Random, so that the number of a change that is rolled back never comes again.
    number = {"number": secrets.randbits(62)}
    ConfigurationVersion.objects.update_or_create(pk=ONLY, defaults=number)


version = RowCache(ConfigurationVersion, _read_version)
VERSIONED: tuple[type[models.Model], ...] = (*KINDS, Profile, Memory)
for kind in VERSIONED:
    post_save.connect(_changed, sender=kind)
    post_delete.connect(_changed, sender=kind)
