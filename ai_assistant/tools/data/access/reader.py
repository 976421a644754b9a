"""What one user sees of many rows in the admin now: rows that others have read."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model

from ai_assistant.changes.capture.images import in_batches
from ai_assistant.changes.values import model_of_label
from ai_assistant.exceptions import ToolFailed
from ai_assistant.safety.policy.admin_pages import is_overridden
from ai_assistant.safety.policy.form_limits import says_itself
from ai_assistant.safety.site_code import value_or
from ai_assistant.tools.data.access.model_admin import AdminAccess, access_of
from ai_assistant.tools.data.access.visibility import (
    MOST_ASKED,
    admin_fields,
    changelist_rows,
    decides_by_object,
    limits_list,
    list_names,
    openable_keys,
)

Named = tuple[str, str]  # "app.model" and the key of a row
FINDERS = ("get_queryset", "get_object")
# The methods of a ModelAdmin that choose what a field offers, perhaps by the user.
FORM_FIELDS = (
    *("formfield_for_foreignkey", "formfield_for_manytomany"),
    *("formfield_for_choice_field", "get_field_queryset"),
)


class Reader:
    """
    The rows and fields that a user may see, asked of the ModelAdmins of the site.

    A row counts if the list has it and its page opens. `look_at` asks for many rows
    with a fixed number of queries for each model, unless the site decides by object.
    """

    def __init__(self, user: Any) -> None:
        self._user = user
        self._accesses: dict[str, AdminAccess | None] = {}
        self._rows: dict[str, dict[str, Model]] = defaultdict(dict)
        self._fields: dict[Named, dict[str, Any]] = {}

    def look_at(self, named: Iterable[Named]) -> None:
        """Ask which of these rows the user sees. Those that are not asked for are not."""
        keys: dict[str, set[str]] = defaultdict(set)
        for label, key in named:
            keys[label].add(key)
        for label, wanted in keys.items():
            access = self.access(label)
            if access is not None:
                nothing: dict[str, Model] = {}
                self._rows[label] |= value_or(
                    nothing,
                    lambda: _seen_rows(access, wanted),  # noqa: B023 - called at once
                    "the admin of %s cannot say what a user sees",
                    label,
                )

    def access(self, label: str) -> AdminAccess | None:
        """Return the access to a model; None if its admin is closed to the user."""
        if label not in self._accesses:
            model = model_of_label(label)
            self._accesses[label] = access_of(self._user, model) if model else None
        return self._accesses[label]

    def sees(self, label: str, key: str) -> bool:
        """Return whether the user sees a row that was looked at."""
        return key in self._rows[label]

    def sees_every(self, label: str) -> bool:
        """Return whether the admin leaves out no row of the model for anybody."""
        access = self.access(label)
        return (
            access is not None
            and not limits_list(access)
            and not is_overridden(access.model_admin, *FINDERS)
            and not decides_by_object(access)
        )

    def fields(self, label: str, key: str) -> dict[str, Any]:
        """Return the fields that the user sees of a row, by name; none of another."""
        access, row = self.access(label), self._rows[label].get(key)
        if access is None or row is None:
            return {}
        if (label, key) not in self._fields:
            nothing: dict[str, Any] = {}
            self._fields[label, key] = value_or(nothing, lambda: _shown(access, row))
        return self._fields[label, key]


def _seen_rows(access: AdminAccess, wanted: Iterable[str]) -> dict[str, Model]:
    keys = [key for one in wanted if (key := _key(access, one)) is not None]
    try:
        listed = changelist_rows(access).order_by()
    except ToolFailed:  # it is code of the site, and does not open
        return {}
    rows = [row for batch in in_batches(listed, keys) for row in batch]
    if decides_by_object(access):
        rows = rows[:MOST_ASKED]
    opened = openable_keys(access, rows)
    return {str(row.pk): row for row in rows if row.pk in opened}


def _key(access: AdminAccess, text: str) -> Any:
    try:
        return access.options.pk.to_python(text)
    except (ValidationError, ValueError):
        return None


def _shown(access: AdminAccess, row: Model) -> dict[str, Any]:
    """Return the fields of a listed row; none of which its form may leave out values."""
    columns = list_names(access)
    shown = admin_fields(access, row, in_list=True)
    return {
        field.name: field
        for field in shown
        if field.name in columns or not _may_limit(access, row, field)
    }


def _may_limit(access: AdminAccess, row: Model, field: Any) -> bool:
    """
    Return whether code of the site may limit what the form names, by the user.

    Of a read-only form it does not. Other limits hold for everybody.
    """
    admin = access.model_admin
    if not (field.is_relation or field.flatchoices):
        return False
    is_limited = says_itself(admin) or is_overridden(admin, *FORM_FIELDS)
    return is_limited and bool(admin.has_change_permission(access.request, row))
