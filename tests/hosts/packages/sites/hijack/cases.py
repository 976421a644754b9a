from django.contrib.auth import get_user_model

from tests.hosts.packages.polls import POLLS, make_polls

PAGES = ["/admin/auth/user/"]
CASES = POLLS


def make() -> None:
    get_user_model().objects.create_superuser("bob")
    make_polls()
