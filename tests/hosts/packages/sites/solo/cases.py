from tests.hosts.packages.cases import change
from tests.hosts.packages.sites.solo.models import Preferences

PREFERENCES = "host.preferences"
PAGE = "/admin/host/preferences/"  # without a key
CASES = {
    "change": change(PREFERENCES, 1, {"name": "B"}, {"name": "B"}, page=PAGE),
    "untick a box": change(PREFERENCES, 1, {"is_open": False}, {"is_open": None}),
}


def make() -> None:
    Preferences.get_solo()
