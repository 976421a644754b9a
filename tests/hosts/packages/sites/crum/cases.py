from tests.hosts.packages.polls import POLLS, make_polls

CASES = POLLS


def make() -> None:
    make_polls()
