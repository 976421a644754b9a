"""One row of a recording, and the files of it: before and after."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from django.db import models

from ai_assistant.changes.capture.images import Image, object_id, same_value
from ai_assistant.changes.values import label, meta


@dataclass(kw_only=True, slots=True)
class FileImage:
    """A file of a row, as it was; `content` is kept until it is stashed."""

    field: str  # attname
    name: str
    sha256_before: str = ""
    sha256_after: str = ""
    content: Any = None  # a file object; None: there is nothing to keep


@dataclass(kw_only=True, slots=True)
class RowImage:
    """
    One row of one table, as it was when a recording first met it, and at its end.

    An image has the columns of the model's own table. An object of a child model
    is several rows: one of each table.
    """

    alias: str
    model: type[models.Model]
    pk: Any
    before: Image | None
    after: Image | None = None
    text: str = ""
    files: list[FileImage] = dataclasses.field(default_factory=list)
    _id: str = ""  # once it was asked for

    @property
    def label(self) -> str:
        """The table, as "app.model"."""
        return label(self.model)

    @property
    def object_id(self) -> str:
        if not self._id:
            self._id = object_id(self.model, self.pk)
        return self._id

    @property
    def key(self) -> str:
        """The row, as "app.model:pk"."""
        return f"{self.label}:{self.object_id}"

    @property
    def is_link(self) -> bool:
        """Whether the table was made for a many-to-many field."""
        return bool(meta(self.model).auto_created)

    @property
    def kind(self) -> str:
        """A RowChange.Kind; empty if nothing has changed."""
        if self.before is None:
            creation = "m2m_add" if self.is_link else "create"
            return "" if self.after is None else creation
        if self.after is None:
            return "m2m_remove" if self.is_link else "delete"
        return "update" if self.fields or self.files else ""

    @property
    def fields(self) -> list[str]:
        """The attnames that differ."""
        before, after = self.before or {}, self.after or {}
        names = {**before, **after}
        return [
            name for name in names if not same_value(before.get(name), after.get(name))
        ]
