"""Trees of django-mptt and django-treebeard, and the columns that keep their order."""

from collections.abc import Collection
from functools import cache
from typing import Any

PACKAGES = frozenset({"mptt", "treebeard"})
PLACES = "places"  # the kind of a gap: rows of a tree got new numbers, and no more
OF_MPTT = ("left_attr", "right_attr", "tree_id_attr", "level_attr")
OF_AN_ADJACENCY_LIST = "sib_order"  # of treebeard, which its models declare themselves


@cache
def is_tree(model: Any) -> bool:
    """Return whether a row says where it stands among others, as numbers of all."""
    return any(map(_is_of_package, model.__mro__))


def is_place(field: Any) -> bool:
    """
    Return whether the package of a tree keeps in this column where a row stands.

    People read the parent instead: these are numbers, or a path of such.
    """
    return field.name in _place_names(field.model)


def are_places(model: Any, columns: Collection[str]) -> bool:
    """Return whether all of these columns of a table, if any, keep places in a tree."""
    names = {field.column for field in model._meta.concrete_fields if is_place(field)}
    return bool(columns) and names.issuperset(columns)


def _is_of_package(base: type) -> bool:
    return base.__module__.partition(".")[0] in PACKAGES


@cache
def _place_names(model: Any) -> frozenset[str]:
    options = getattr(model, "_mptt_meta", None)
    names = {getattr(options, name, "") for name in OF_MPTT} if options else set()
    for base in filter(_is_of_package, model.__mro__):
        if meta := getattr(base, "_meta", None):
            names.update(field.name for field in meta.local_fields)
        if base.__name__ == "AL_Node":
            names.add(OF_AN_ADJACENCY_LIST)
    return frozenset(names)
