from tests.hosts.packages.cases import act
from tests.hosts.packages.polls import POLL, POLLS, make_polls

PAGES = ["/admin/host/poll/", "/admin/host/poll/import/"]
CASES = POLLS | {"export": act(POLL, [1], "export_admin_action", refused=True)}
make = make_polls
