from django.conf import settings

from tests.hosts.packages.polls import POLLS, make_polls
from tests.hosts.packages.rows import reset_numbers
from tests.hosts.packages.sites.tenants.site import HOSTS

OF_THE_PAGE = OF_THE_TEMPLATE = {"_aia_opened"}  # the assistant is switched on
NOT_SERVED = "its rows are in PostgreSQL; test_tenants serves both tenants"
CASES = POLLS


def make() -> None:
    make_polls()
    reset_numbers()


def sign_in(client, user) -> None:
    client.defaults["SERVER_NAME"] = HOSTS[settings.TENANT]
