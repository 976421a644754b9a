from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.treebeard.models import Link, Topic

TOPIC = "host.topic"
PAGES = ["/admin/host/topic/"]
CASES = {
    "add": add(TOPIC, {"name": "New"}, {"name": "New"}),
    "rename": change(TOPIC, 1, {"name": "B"}, {"name": "B"}),
    "change a row, and add one": change(
        TOPIC,
        1,
        {"name": "B"},
        {"name": "B", "links-0-title": "Old", "links-1-title": "New"},
        more={"inlines": {"links": [{"id": 1, "title": "Old"}, {"title": "New"}]}},
        rows=["links"],
    ),
    "delete a row": change(
        TOPIC,
        1,
        {},
        {"links-0-DELETE": "on"},
        more={"inlines": {"links": [{"id": 1, "DELETE": True}]}},
    ),
    "move": change(
        TOPIC,
        2,
        {"treebeard_position": "right"},
        {"treebeard_position": "right"},
    ),
    "bulk": bulk(TOPIC, [1, 2], {"name": "C"}, {"name": "C"}),
    "delete": delete(TOPIC, 2),
}


def make() -> None:
    Topic.objects.load_bulk(
        [{"data": {"name": "Root"}, "children": [{"data": {"name": "Child"}}]}]
    )
    Link.objects.create(pk=1, topic=Topic.objects.get(pk=1), title="L")
