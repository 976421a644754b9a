"""
What a person is shown before a change happens, and what is compared afterwards.

Plain values; they are stored as JSON in the interrupt that waits for the person.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import TypeAdapter

ChangeKind = Literal["create", "change", "delete", "link", "action"]


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldChange:
    """
    One field of one object, before and after, as texts for a person.

    `attname` and `raw` are what the row will hold: they are compared with the image
    of what happened. None where there is no row yet, or where only the text is known.
    `held` is the digest of a value that is not kept itself, to be compared instead.
    """

    name: str
    label: str
    before: str = ""
    after: str = ""
    attname: str = ""
    raw: Any = None  # JSON, as changes.images makes it
    held: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ObjectChange:
    """One object that is made, changed, deleted or acted upon."""

    kind: ChangeKind
    model: str  # app.model
    object_id: str = ""  # empty: it is not there yet
    text: str = ""  # what the admin calls it
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Related:
    """Objects that go along, as the cascade of a delete, by their model."""

    model: str
    label: str  # their plural
    kind: ChangeKind
    count: int
    texts: tuple[str, ...] = ()  # of the first of them
    at_most: bool = False  # rows were left out: fewer may go along


@dataclass(frozen=True, kw_only=True, slots=True)
class HiddenField:
    """
    What one field becomes in the objects of a bulk change that are not shown.

    `ids` are those of the objects, by the digest of the value that they get; by the
    JSON of the chosen keys, if it is a many-to-many field; by "" for any value.
    """

    name: str
    attname: str = ""
    ids: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """
    What a call would change: computed by the server, never told by the model.

    `objects` are the first SHOWN of `total`. `versions` holds the digest of every
    row that is changed or deleted, by "app.model:pk", as it was when this was
    computed. `exact` is the fingerprint of all images, if the call was tried out in
    a transaction; then what happens must be just that. `hidden` are the changes of
    the objects of `model` beyond the first; without it, what those have in common is
    expected of all others too.
    """

    title: str  # says what happens, and to how many: "Delete 3 orders"
    verb: str = ""  # of the button: "Delete 3 orders"; the title if empty
    model: str = ""  # app.model of the targets, if they have one
    objects: tuple[ObjectChange, ...] = ()
    total: int = 0
    related: tuple[Related, ...] = ()
    warnings: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    rows_argument: str = ""  # of the call: its list of ids, of which some may be chosen
    undoable: bool = True
    exact: str = ""
    hidden: tuple[HiddenField, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing would change at all."""
        return not self.total and not self.related


SHOWN = 20  # objects of a bulk change

_adapter: TypeAdapter[Changes] = TypeAdapter(Changes)


def to_json(changes: Changes) -> dict[str, Any]:
    """Return `changes` as it is stored."""
    return _adapter.dump_python(changes, mode="json")  # type: ignore[no-any-return]


def from_json(stored: Any) -> Changes:  # noqa: ANN401 - JSON
    """Return the changes that were stored. Raise ValueError if they are none."""
    return _adapter.validate_python(stored)


def readable(stored: Any) -> Changes | None:  # noqa: ANN401 - JSON
    """Return the changes that were stored; None without, or of another release."""
    try:
        return from_json(stored) if stored else None
    except ValueError:
        return None
