from tests.hosts.packages.cases import bulk, change
from tests.hosts.packages.sites.solo.models import Preferences

PREFERENCES = "host.preferences"
PAGE = "/admin/host/preferences/"  # without a key
CASES = {
    "change": change(PREFERENCES, 1, {"name": "B"}, {"name": "B"}, page=PAGE),
    "bulk": bulk(PREFERENCES, [1], {"name": "B"}, {"name": "B"}),
    "untick a box": change(PREFERENCES, 1, {"is_open": False}, {"is_open": None}),
}


def make() -> None:
    Preferences.get_solo()
