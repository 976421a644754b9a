from tests.hosts.packages.cases import change
from tests.hosts.packages.polls import POLL, POLLS, make_polls

PAGES = ["/admin/host/poll/"]
CASES = POLLS | {
    "change": change(POLL, 1, {"made": "2026-01-02"}, {"made": "2026-01-02"})
}
make = make_polls
