from tests.hosts.packages.polls import POLLS, make_polls

PAGES = ["/admin/host/poll/recover/"]
CASES = POLLS


def make() -> None:
    make_polls()
