"""What a package tells of changes, and what has to be told of them."""

from typing import NamedTuple

from tests.hosts.packages.rows import State


class Told(NamedTuple):
    """An entry of a history; `kind` is empty where the package does not say it."""

    model: str
    key: str
    kind: str
    person: str | None


def happened(before: State, after: State, person: str) -> set[Told]:
    """Return what a history has to tell of the site's own rows that have changed."""
    found = set()
    for label in before:
        if not label.startswith("host."):
            continue
        old, new = (
            {str(dict(row)["id"]): row for row in one[label]} for one in (before, after)
        )
        for key in {*old, *new}:
            if old.get(key) == new.get(key):
                continue
            kind = "create" if key not in old else "change" if key in new else "delete"
            found.add(Told(label, key, kind, person))
    return found
