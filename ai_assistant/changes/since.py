"""What runs have recorded of some rows since a moment."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q

from ai_assistant.changes.meta import label, meta
from ai_assistant.models.change import RowChange
from ai_assistant.types import UserKey


def rows_since(
    moment: datetime,
    *,
    own: Collection[str],
    ids: Collection[str],
    near: Collection[str] = (),
) -> list[RowChange]:
    """
    Return the recorded changes after `moment`, oldest first; one query.

    Those of the rows with these `ids` in the tables `own`, and of all rows in the
    tables `near`; a table is named "app.model".
    """
    named = Q(model__in=list(own), object_id__in=list(ids)) | Q(model__in=list(near))
    found = RowChange.objects.filter(named, change_set__created_at__gte=moment)
    rows = found.select_related("change_set__user")
    return list(rows.order_by("change_set__created_at", "order"))


def has_changed(
    model: Any,  # noqa: ANN401 - a model class
    key: str,
    parts: Mapping[str, str],
    *,
    moment: datetime,
    user_id: UserKey,
) -> bool:
    """
    Tell whether a run for the user has changed an object after `moment`; one query.

    `parts` are the tables whose rows belong to it, with the column that names it.
    """
    own = Q(model__in=tables_of(model), object_id=key)
    rows = RowChange.objects.filter(
        own | Q(model__in=list(parts)),
        change_set__created_at__gt=moment,
        change_set__user_id=user_id,
    )
    return any(
        table not in parts
        or key in (_named(before, parts[table]), _named(after, parts[table]))
        for table, before, after in rows.values_list("model", "before", "after")
    )


def tables_of(model: Any) -> list[str]:  # noqa: ANN401 - a model class
    """Return the tables of an object: that of the model, and those of its parents."""
    return [label(one) for one in (model, *meta(model).all_parents)]


def _named(image: Any, attname: str) -> str:  # noqa: ANN401 - JSON
    return str((image or {}).get(attname))
