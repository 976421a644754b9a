from tests.hosts.packages.polls import POLLS, make_polls

PAGES = ["/admin/", "/admin/host/poll/"]
CASES = POLLS


def make() -> None:
    make_polls()
