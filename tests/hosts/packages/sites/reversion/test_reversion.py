"""The pages of revisions are known as those of their model and its object."""

import pytest
from reversion.models import Version

from tests.hosts.packages.context import known_on
from tests.hosts.packages.person import Person
from tests.hosts.packages.sites.reversion import cases
from tests.hosts.packages.sites.reversion.models import Poll

POLL = "host.poll"
FORM = "/admin/host/poll/1/change/"


@pytest.fixture
def client(client):
    assert Person(client, cases.CASES["change"]).act() == ""
    return client


def version():
    return Version.objects.get_for_model(Poll).get(object_id="1")


def test_history_is_of_the_object(client, boss):
    label, shown, module = known_on("/admin/host/poll/1/history/", client, boss)

    assert (label, shown["id"], module) == (POLL, 1, "admin-history")
    assert shown["fields"]["title"] == "B"


def test_revision_is_of_the_object(client, boss):
    address = f"/admin/host/poll/1/history/{version().pk}/"

    label, shown, module = known_on(address, client, boss)

    assert (label, shown["id"], module) == (POLL, 1, "default")
    assert shown == known_on(FORM, client, boss)[1]
    assert shown["fields"]["title"] == "B"


def test_pages_of_what_is_gone_are_of_the_model(client, boss):
    Poll.objects.get(pk=1).delete()

    for page in ("recover/", f"recover/{version().pk}/"):
        known = known_on(f"/admin/host/poll/{page}", client, boss)
        assert known == (POLL, None, "default"), page
