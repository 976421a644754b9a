"""Requests to stop an undo, which looks for them before each piece."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from ai_assistant.exceptions import Refused
from ai_assistant.models.change import ChangeSet, UndoStop

STOPPED = "stopped"


def stops_of(sets: Sequence[ChangeSet]) -> QuerySet[UndoStop]:
    """Return the requests to stop the undo of these changes."""
    return UndoStop.objects.filter(change_set__in=[one.pk for one in sets])


def ask_to_stop(sets: Sequence[ChangeSet]) -> None:
    """Ask the undo of these changes to stop, also one that is about to begin."""
    UndoStop.objects.bulk_create(
        [UndoStop(change_set=one) for one in sets],
        update_conflicts=True,
        unique_fields=["change_set"],
        update_fields=["asked_at"],
    )


def is_stopped(sets: Sequence[ChangeSet], asked_at: datetime) -> bool:
    """Return whether the undo that was asked for then is to stop."""
    return stops_of(sets).filter(asked_at__gte=asked_at).exists()


def check_goes_on(sets: Sequence[ChangeSet], asked_at: datetime) -> None:
    """Raise Refused if the undo that was asked for then is to stop."""
    if is_stopped(sets, asked_at):
        raise Refused(STOPPED, _("It was stopped."))


def forget_stops(sets: Sequence[ChangeSet], asked_at: datetime) -> None:
    """Delete the requests that were about an undo before the one asked for then."""
    stops_of(sets).filter(asked_at__lt=asked_at).delete()
