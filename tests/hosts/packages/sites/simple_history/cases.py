from tests.hosts.packages.polls import POLLS, make_polls
from tests.hosts.packages.sites.simple_history.models import Choice, Poll
from tests.hosts.packages.told import Told

PAGES = ["/admin/host/poll/1/history/"]
CASES = POLLS


def make() -> None:
    make_polls()


def history() -> list[Told]:
    """Return what the package has noted: of what, what happened, and who did it."""
    kinds = {"+": "create", "~": "change", "-": "delete"}
    names = ("id", "history_type", "history_user__username")
    return [
        Told(model._meta.label, str(key), kinds[kind], person)
        for model in (Poll, Choice)
        for key, kind, person in model.history.values_list(*names)
    ]
