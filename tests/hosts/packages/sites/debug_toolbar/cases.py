from tests.hosts.packages.polls import POLLS, make_polls

FREE = ["#djShowToolBarButton"]  # its handle
CASES = POLLS


def make() -> None:
    make_polls()
