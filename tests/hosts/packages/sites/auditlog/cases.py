from auditlog.models import LogEntry

from tests.hosts.packages.polls import POLLS, make_polls
from tests.hosts.packages.told import Told

PAGES = ["/admin/auditlog/logentry/"]
CASES = POLLS


def make() -> None:
    make_polls()


def history() -> list[Told]:
    """Return what the package has noted: of what, what happened, and who did it."""
    action = LogEntry.Action
    kinds = {action.CREATE: "create", action.UPDATE: "change", action.DELETE: "delete"}
    return [
        Told(
            entry.content_type.model_class()._meta.label,
            entry.object_pk,
            kinds[entry.action],
            entry.actor and entry.actor.username,
        )
        for entry in LogEntry.objects.all()
    ]
