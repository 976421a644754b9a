from django.conf import settings

from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.rows import reset_numbers
from tests.hosts.packages.sites.tenants.models import Choice, Poll
from tests.hosts.packages.sites.tenants.site import HOSTS

POLL = "host.poll"
OF_THE_PAGE = OF_THE_TEMPLATE = {"_aia_opened"}  # the assistant is switched on
NOT_SERVED = "its rows are in PostgreSQL; test_tenants serves both tenants"
CASES = {
    "add": add(
        POLL,
        {"title": "New"},
        {"title": "New", "choices-0-label": "Yes"},
        more={"inlines": {"choices": [{"label": "Yes"}]}},
        rows=["choices"],
    ),
    "change": change(POLL, 1, {"title": "B"}, {"title": "B"}),
    "change a row": change(
        POLL,
        1,
        {"text": "More"},
        {"text": "More", "choices-0-label": "No"},
        more={"inlines": {"choices": [{"id": 1, "label": "No"}]}},
    ),
    "delete a row": change(
        POLL,
        1,
        {},
        {"choices-0-DELETE": "on"},
        more={"inlines": {"choices": [{"id": 1, "DELETE": True}]}},
    ),
    "bulk": bulk(POLL, [1, 2], {"text": "C"}, {"text": "C"}),
    "delete": delete(POLL, 1),
}


def make() -> None:
    for pk in (1, 2):
        poll = Poll.objects.create(pk=pk, title=f"A{pk}")
        Choice.objects.create(pk=pk, poll=poll, label="Yes")
    reset_numbers()


def sign_in(client, user) -> None:
    client.defaults["SERVER_NAME"] = HOSTS[settings.TENANT]
