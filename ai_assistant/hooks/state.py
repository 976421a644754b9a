"""The state that hooks and tools keep with a run: checked, merged, told as a patch."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ai_assistant.text.unicode import whole_json
from ai_assistant.types import JSON
from ai_assistant.types.hook import STATE_CHARS, State

CLIENT = "client"  # the namespace of what an AG-UI client has sent
Values = Mapping[str, Mapping[str, JSON]]  # by namespace


@dataclass(frozen=True, kw_only=True, slots=True)
class StateChange:
    """What one hook or call has changed in its namespace."""

    namespace: str
    set: Mapping[str, JSON] = field(default_factory=dict)
    removed: tuple[str, ...] = ()


def change_of(state: State) -> StateChange | None:
    """
    Return what was changed in `state`; None if nothing was.

    Raise ValueError if it is no JSON, or too large.
    """
    before = state.before
    if not state and not before:
        return None
    if _are_same(dict(state), before):
        return None
    values = checked(state.namespace, dict(state))
    return StateChange(
        namespace=state.namespace,
        set={
            key: value
            for key, value in values.items()
            if key not in before or not _are_same(before[key], value)
        },
        removed=tuple(key for key in before if key not in values),
    )


def checked(namespace: str, values: Mapping[str, Any]) -> dict[str, JSON]:
    """Return `values` as JSON. Raise ValueError, naming the namespace."""
    if not all(isinstance(key, str) for key in values):
        raise ValueError(
            f"The state of {namespace!r} has a key that is no text. Use texts as keys."
        )
    try:
        text = json.dumps(values, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"The state of {namespace!r} is no JSON ({error}). Keep texts, numbers, "
            "true, false, null, lists and dicts of them in it."
        ) from error
    if len(text) > STATE_CHARS:
        raise ValueError(
            f"The state of {namespace!r} has {len(text)} characters as JSON (at most "
            f"{STATE_CHARS} of all apps together). Keep less in it, or in a table."
        )
    plain: dict[str, JSON] = whole_json(json.loads(text))
    return plain


def of_site(values: Values) -> dict[str, Mapping[str, JSON]]:
    """Return what the site's own code keeps."""
    return {name: own for name, own in values.items() if name != CLIENT}


def merged(
    values: Values, changes: Iterable[StateChange]
) -> dict[str, dict[str, JSON]]:
    """Return `values` with `changes`. Raise ValueError if that is too much together."""
    merged = {name: dict(own) for name, own in values.items()}
    for change in changes:
        own = merged.setdefault(change.namespace, {})
        own.update(change.set)
        for key in change.removed:
            own.pop(key, None)
        if not own:
            del merged[change.namespace]
    size = len(json.dumps(merged))
    if size > STATE_CHARS:
        raise ValueError(
            f"The state of all apps has {size} characters as JSON (at most "
            f"{STATE_CHARS}). Keep less in it."
        )
    return merged


def patch_of(before: JSON, after: JSON, path: str = "") -> Iterator[dict[str, JSON]]:
    """Yield the operations of a JSON patch (RFC 6902) from one value to another."""
    if _are_same(before, after):
        return
    if not (isinstance(before, dict) and isinstance(after, dict)):
        yield {"op": "replace", "path": path, "value": after}
        return
    for key in before:
        if key not in after:
            yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
    for key, value in after.items():
        place = f"{path}/{_escaped(key)}"
        if key in before:
            yield from patch_of(before[key], value, place)
        else:
            yield {"op": "add", "path": place, "value": value}


def _are_same(one: Any, other: Any) -> bool:
    """Return whether two values are the same JSON: for Python True is 1 as well."""
    if one != other:
        return False
    if one == {} == other:
        return True
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
