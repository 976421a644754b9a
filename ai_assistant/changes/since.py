"""What runs have recorded of some rows since a moment."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import Q

from ai_assistant.models.change import RowChange


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
