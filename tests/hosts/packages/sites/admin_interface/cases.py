from admin_interface.models import Theme

from tests.hosts.packages.polls import POLLS, make_polls

CASES = POLLS


def make() -> None:
    Theme.objects.get_active()  # the page makes it when it is shown
    make_polls()
