from tests.hosts.packages.polls import POLLS, make_polls

PAGES = ["/admin/host/poll/1/history/"]
CASES = POLLS


def make() -> None:
    make_polls()
