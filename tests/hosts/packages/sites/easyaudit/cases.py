from easyaudit.models import CRUDEvent

from tests.hosts.packages.polls import POLLS, make_polls
from tests.hosts.packages.told import Told

NOT_SERVED = "it logs the rows of the assistant, and errors of its own on a server"
COMMITS = True  # it logs after the commit
CASES = POLLS


def make() -> None:
    make_polls()


def history() -> list[Told]:
    """Return what the package has noted: of what, what happened, and who did it."""
    kinds = {
        CRUDEvent.CREATE: "create",
        CRUDEvent.UPDATE: "change",
        CRUDEvent.DELETE: "delete",
    }
    return [
        Told(
            event.content_type.model_class()._meta.label,
            event.object_id,
            kinds[event.event_type],
            event.user and event.user.username,
        )
        for event in CRUDEvent.objects.filter(content_type__app_label="host")
    ]
