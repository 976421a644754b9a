from tests.hosts.packages.polls import POLLS, make_polls

OTHER_PAGES = ["/cms/"]
CASES = POLLS


def make() -> None:
    make_polls()
