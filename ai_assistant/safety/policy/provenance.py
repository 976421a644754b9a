"""
Where the arguments of a call come from: the person, the site, or data.

Once data has entered a conversation, the model may have any value from there. A
value then counts as the person's only if the person has typed it, or if it names an
object that the person has pointed at, or whose page they have opened.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ai_assistant.safety.policy.typed_text import TypedWords
from ai_assistant.types import JSON

MOST_LEAVES = 2000  # of the arguments; more are not looked through
MODEL = "model"  # the argument that names a table: "shop.order"
IDENTITY = frozenset({"id", "ids", "pk", "pks", "object_id", "object_ids"})
ENDINGS = ("", "_id", "_ids", "_pk")

Path = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenObject:
    """An object that the person has pointed at, or whose page they have opened."""

    model: str  # app.model, in lower case
    object_id: str
    is_pointed: bool = False  # as good as typed: to open a page is not to want a change

    def is_named_by(self, name: str, value: JSON, model: JSON) -> bool:
        """
        Return whether the argument of this name is its id.

        `model` is the table that the arguments name, or None. Many may be pointed
        at: then the id alone may be of another table.
        """
        if str(value) != self.object_id:
            return False
        if model is not None and str(model).lower() != self.model:
            return False
        if name in IDENTITY:
            return model is not None or not self.is_pointed
        model_name = self.model.rpartition(".")[2]
        return name in {model_name + ending for ending in ENDINGS}


@dataclass(frozen=True, kw_only=True, slots=True)
class Origins:
    """The sources that an argument may come from."""

    words: TypedWords
    schema: Mapping[str, Any] = field(default_factory=dict)  # of the tool
    chosen: tuple[ChosenObject, ...] = ()
    named_model: str = ""  # app.model, of which the person has typed the name


@dataclass(frozen=True, kw_only=True, slots=True)
class ArgumentOrigins:
    """The origin of a call's arguments: where they are foreign, and if any is typed."""

    foreign: tuple[str, ...] = ()  # names of arguments
    is_meant: bool = False  # at least one was typed, or names what was pointed at
    is_opened: bool = False  # one names the object that the person has opened


def look_at(arguments: Mapping[str, JSON], origins: Origins) -> ArgumentOrigins:
    """Return which arguments came from data, and whether the person typed any."""
    names = _property_names(origins.schema)
    defaults = _defaults(origins.schema)
    foreign: dict[str, None] = {}
    is_meant = is_opened = False
    for number, (path, value, is_key) in enumerate(_leaves(arguments, ())):
        if number >= MOST_LEAVES:
            foreign["…"] = None
            break
        if _is_site(path, value, is_key=is_key, names=names, defaults=defaults):
            continue
        if _is_typed(value, origins.words):
            is_meant = True
            continue
        named = [] if is_key else _named_by(path, value, arguments, origins)
        if named or (not is_key and _is_named_model(path, value, origins)):
            is_opened = True
            is_meant = is_meant or any(one.is_pointed for one in named)
        else:
            foreign[str(path[0])] = None
    return ArgumentOrigins(
        foreign=tuple(foreign), is_meant=is_meant, is_opened=is_opened
    )


def _leaves(value: JSON, path: Path) -> Iterator[tuple[Path, JSON, bool]]:
    """Yield all keys and values of the arguments, each with its place."""
    if isinstance(value, Mapping) and (value or not path):
        for key, inner in value.items():
            yield (*path, key), key, True
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*path, index))
    else:
        yield path, value, False


def _is_site(
    path: Path, value: JSON, *, is_key: bool, names: set[str], defaults: JSON
) -> bool:
    """Return whether the key or the default value comes from the site's code."""
    if is_key:
        return value in names
    # A part of a default counts as well: all of it stands in the site's code.
    for name in path:
        if isinstance(defaults, list) and isinstance(name, int):
            if name >= len(defaults):
                return False
        elif not isinstance(defaults, Mapping) or name not in defaults:
            return False
        defaults = defaults[name]
    return type(defaults) is type(value) and bool(defaults == value)


def _is_typed(value: JSON, words: TypedWords) -> bool:
    if isinstance(value, bool) or value is None:
        return False  # a choice, for which there is no word
    if isinstance(value, int | float):
        return words.has_number(value)
    return isinstance(value, str) and words.has_text(value)


def _is_named_model(path: Path, value: JSON, origins: Origins) -> bool:
    """Return whether the value names a table that the person has named or chosen."""
    models = {origins.named_model, *(one.model for one in origins.chosen)} - {""}
    return path == (MODEL,) and str(value).lower() in models


def _named_by(
    path: Path, value: JSON, arguments: Mapping[str, JSON], origins: Origins
) -> list[ChosenObject]:
    """Return the chosen objects whose id the value is."""
    name, deeper = str(path[0]), path[1:]
    if isinstance(value, bool) or any(not isinstance(index, int) for index in deeper):
        return []  # a value of the object, not the object
    return [
        one
        for one in origins.chosen
        if one.is_named_by(name, value, arguments.get(MODEL))
    ]


def _property_names(schema: JSON) -> set[str]:
    """Return the names of all arguments and their parts that the schema knows."""
    names: set[str] = set()
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            names.update(properties)
        for inner in schema.values():
            names |= _property_names(inner)
    elif isinstance(schema, list):
        for inner in schema:
            names |= _property_names(inner)
    return names


def _defaults(schema: Mapping[str, Any]) -> dict[str, JSON]:
    """Return the defaults of the arguments themselves, by name."""
    properties = schema.get("properties", {})
    return {
        name: definition["default"]
        for name, definition in properties.items()
        if isinstance(definition, Mapping) and "default" in definition
    }
