from tests.hosts.packages.polls import POLLS, make_polls

PAGES = ["/admin/auditlog/logentry/"]
CASES = POLLS


def make() -> None:
    make_polls()
