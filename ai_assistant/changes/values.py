"""
The changes that a person is shown before a call, to compare with its writes.

Plain values; they are stored as JSON in the interrupt that waits for the person.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from django.apps import apps

ChangeKind = Literal["create", "change", "delete", "link", "action"]
# By the kind of the change of one row.
CHANGE_KINDS: dict[str, ChangeKind] = {
    "create": "create",
    "update": "change",
    "delete": "delete",
    "m2m_add": "link",
    "m2m_remove": "link",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldChange:
    """
    One field of one object, before and after, as texts for a person.

    `attname` and `raw` are the column and its new value, to be compared with the image
    of the row after the change; None without a row, or if only the text is known.
    `held` is the digest of a value that is not stored itself, to be compared instead.
    `is_place`: the package of a tree keeps there, unasked, where the object stands.
    """

    name: str
    label: str
    before: str = ""
    after: str = ""
    attname: str = ""
    raw: Any = None  # JSON, as changes.capture.images makes it
    held: str = ""
    is_place: bool = False


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
    """Related objects that change too, such as the cascade of a delete, by model."""

    model: str
    label: str  # their plural
    kind: ChangeKind
    count: int
    texts: tuple[str, ...] = ()  # of the first of them
    at_most: bool = False  # rows were left out: fewer may go along


@dataclass(frozen=True, kw_only=True, slots=True)
class HiddenField:
    """
    New values of one field in the objects of a bulk change that are not shown.

    `ids` are those of the objects, by the digest of the value that they get; by the
    JSON of the chosen keys, if it is a many-to-many field; by "" for any value.
    """

    name: str
    attname: str = ""
    ids: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """
    The changes a call would make: computed by the server, never given by the model.

    `objects` are the first SHOWN of `total`. `versions` holds the digest of every
    row that is changed or deleted, by "app.model:pk", as it was when this was
    computed. `exact` is the fingerprint of all images, if the call was tried out in
    a transaction; then what happens must be just that. `hidden` are the changes of
    the objects of `model` beyond the first; without it, what those have in common is
    expected of all others too. `plan` is the digest of the plan of an undo, if it is
    one: the tool itself sees to it that just that is done.
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
    undoable: bool = True  # but for its limits
    undo_limits: tuple[str, ...] = ()  # sentences: what could not be undone, and why
    exact: str = ""
    hidden: tuple[HiddenField, ...] = ()
    plan: str = ""
    # Code of the site may write more. It is not stored.
    needs_trial: bool = field(default=False, compare=False)

    @property
    def is_empty(self) -> bool:
        """Whether nothing would change at all."""
        return not self.total and not self.related

    def row_id(self, change: ObjectChange) -> str | None:
        """Return by what a person chooses an object; None if it goes along."""
        if self.plan:
            return f"{change.model}:{change.object_id}"
        return change.object_id if change.model == self.model else None


SHOWN = 20  # objects of a bulk change


def meta(model: Any) -> Any:
    """Return the options of a model."""
    return model._meta


def concrete(model: Any) -> Any:
    """Return the model that has the table: of a proxy, the one behind it."""
    return meta(model).concrete_model


def label(model: Any) -> str:
    """Return "app.model" of the model that has the table."""
    return str(meta(concrete(model)).label_lower)


def model_name(name: str, *, plural: bool = False) -> str:
    """Return what "app.model" is called; its own name if there is no such model."""
    model = model_of_label(name)
    if model is None:
        return name.rpartition(".")[2]
    options = meta(model)
    return str(options.verbose_name_plural if plural else options.verbose_name)


def columns(model: Any) -> list[Any]:
    """Return the fields with a column in the model's own table."""
    return [field for field in meta(model).local_concrete_fields if field.column]


@cache
def currency_field(field: Any) -> Any:
    """
    Return the column with the currency of an amount, which forms show with it.

    As django-money has one, which is in no form by itself. None if there is none.
    """
    for other in meta(field.model).concrete_fields:
        amount = getattr(other, "price_field", None)
        if amount is not None and amount.name == field.name:
            return other
    return None


@cache
def parent_links(model: Any) -> list[tuple[Any, Any]]:
    """Return the parents of a model that have tables, with the links to their rows."""
    parents = [base for base in meta(model).all_parents if concrete(base) is base]
    links = [(base, meta(model).get_ancestor_link(base)) for base in parents]
    return [(base, link) for base, link in links if link is not None]


def has_one_key(model: Any) -> bool:
    """Return whether the primary key is one column; a composite one has none."""
    return bool(getattr(meta(model).pk, "column", None))


@cache
def _by_table() -> dict[str, Any]:
    models_by_table: dict[str, Any] = {}
    for model in apps.get_models(include_auto_created=True):
        if meta(model).proxy:
            continue
        table = meta(model).db_table
        if table not in models_by_table or meta(model).managed:
            models_by_table[table] = model
    return models_by_table


def model_of_table(table: str) -> Any:
    """Return the model of a table, None if there is none."""
    return _by_table().get(table)


def model_of_label(name: str) -> Any:
    """Return the model "app.model", also of a made many-to-many table, or None."""
    try:
        return apps.get_model(name)
    except (LookupError, ValueError):
        return None
