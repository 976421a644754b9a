from tests.hosts.packages.polls import POLLS, make_polls

PAGES = ["/admin/constance/config/"]
CASES = POLLS


def make() -> None:
    make_polls()
