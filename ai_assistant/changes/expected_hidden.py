"""
What becomes of the objects of a bulk change that are not shown, kept small.

Their values are kept as digests, and one that many objects get is kept once.
"""

import json
from collections.abc import Iterable
from typing import Any

from ai_assistant.changes.expected_fields import held
from ai_assistant.changes.meta import meta, model_of_label
from ai_assistant.changes.values import (
    Changes,
    FieldChange,
    HiddenField,
    ObjectChange,
)


class Hiding:
    """Gathers what the objects of one model become."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - a model class
        self._links = _link_names(model)
        self._ids: dict[tuple[str, str], dict[str, list[str]]] = {}

    def add(self, pk: Any, changes: Iterable[FieldChange]) -> None:  # noqa: ANN401
        """Note what one object becomes, with the key `pk`."""
        for change in changes:
            if not change.attname:
                value = ""
            elif change.name in self._links:
                value = json.dumps(change.raw)
            else:
                value = held(change.raw)
            by_value = self._ids.setdefault((change.name, change.attname), {})
            by_value.setdefault(value, []).append(str(pk))

    def fields(self) -> tuple[HiddenField, ...]:
        """Return all that was noted, as it is stored."""
        return tuple(
            HiddenField(
                name=name,
                attname=attname,
                ids={value: tuple(ids) for value, ids in by_value.items()},
            )
            for (name, attname), by_value in self._ids.items()
        )


def hidden_objects(shown: Changes) -> list[ObjectChange]:
    """Return the objects that are held to what is kept of them, named by their key."""
    model = model_of_label(shown.model)
    links = set() if model is None else _link_names(model)
    found: dict[str, list[FieldChange]] = {}
    for one in shown.hidden:
        for value, ids in one.ids.items():
            change = _change(one, value, is_links=one.name in links)
            for own in ids:
                found.setdefault(own, []).append(change)
    return [
        ObjectChange(
            kind="change",
            model=shown.model,
            object_id=own,
            text=own,
            fields=tuple(changes),
        )
        for own, changes in found.items()
    ]


def _link_names(model: Any) -> set[str]:  # noqa: ANN401 - a model class
    return {field.name for field in meta(model).many_to_many}


def _change(one: HiddenField, value: str, *, is_links: bool) -> FieldChange:
    if is_links:
        links = json.loads(value) if value else None
        return FieldChange(
            name=one.name, label=one.name, attname=one.attname, raw=links
        )
    return FieldChange(name=one.name, label=one.name, attname=one.attname, held=value)
