from tests.hosts.packages.polls import POLLS, make_polls

NOT_SERVED = "it logs the rows of the assistant, and errors of its own on a server"
CASES = POLLS


def make() -> None:
    make_polls()
