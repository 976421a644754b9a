"""Columns with a will of their own."""

from typing import Any

from django.db import models
from django.db.models import F


class RevisionField(models.PositiveIntegerField):
    """
    A count that only an update of the row itself advances.

    Saving an object leaves it alone, so that a form which was opened earlier does
    not set it back.
    """

    def pre_save(self, model_instance: models.Model, add: bool) -> Any:  # noqa: FBT001 - the signature is Django's
        """Return the value of a new row, and for others the one of the database."""
        value = super().pre_save(model_instance, add)
        return value if add else F(self.attname)
