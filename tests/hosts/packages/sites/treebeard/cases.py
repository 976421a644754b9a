from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.treebeard.models import Topic

TOPIC = "host.topic"
PAGES = ["/admin/host/topic/"]
CASES = {
    "add": add(TOPIC, {"name": "New"}, {"name": "New"}),
    "rename": change(TOPIC, 1, {"name": "B"}, {"name": "B"}),
    "bulk": bulk(TOPIC, [1, 2], {"name": "C"}, {"name": "C"}),
    "delete": delete(TOPIC, 2),
}


def make() -> None:
    Topic.objects.load_bulk(
        [{"data": {"name": "Root"}, "children": [{"data": {"name": "Child"}}]}]
    )
