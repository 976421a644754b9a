from tests.hosts.packages.polls import POLLS, make_polls

PAGES = ["/admin/host/poll/1/permissions/"]
CASES = POLLS


def make() -> None:
    make_polls()
