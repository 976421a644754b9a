"""The pages of an object's history are known as those of its model and of it."""

from tests.hosts.packages.context import known_on
from tests.hosts.packages.sites.simple_history.models import Poll

POLL = "host.poll"
FORM = "/admin/host/poll/1/change/"


def test_history_is_of_the_object(client, boss):
    label, shown, module = known_on("/admin/host/poll/1/history/", client, boss)

    assert (label, shown["id"], module) == (POLL, 1, "admin-history")
    assert shown == known_on(FORM, client, boss)[1]


def test_earlier_state_is_of_the_object(client, boss):
    entry = Poll.history.get(id=1)
    address = f"/admin/host/poll/1/history/{entry.pk}/"

    label, shown, module = known_on(address, client, boss)

    assert (label, shown["id"], module) == (POLL, 1, "default")
    assert shown == known_on(FORM, client, boss)[1]
    assert shown["fields"]["title"] == "A1"
