from functools import cache

from django.core.management import call_command

from tests.hosts.packages.polls import POLLS, make_polls

CASES = POLLS


@cache
def collect() -> None:
    """Make the files that pages name, once: they have digests in their names."""
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)


def make() -> None:
    collect()
    make_polls()
