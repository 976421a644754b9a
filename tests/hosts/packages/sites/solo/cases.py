from tests.hosts.packages.cases import change
from tests.hosts.packages.sites.solo.models import Preferences

PREFERENCES = "host.preferences"
CASES = {
    "change": change(PREFERENCES, 1, {"name": "B"}, {"name": "B"}),
    "untick a box": change(PREFERENCES, 1, {"is_open": False}, {"is_open": None}),
}


def make() -> None:
    Preferences.get_solo()
