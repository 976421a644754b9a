from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.polymorphic.models import Art, Science

PROJECT, ART = "host.project", "host.art"
PAGES = ["/admin/host/project/add/"]
CASES = {
    "add a child": add(
        ART, {"topic": "New", "artist": "Ada"}, {"topic": "New", "artist": "Ada"}
    ),
    "change a child": change(ART, 1, {"artist": "Bo"}, {"artist": "Bo"}),
    "change by the parent": change(PROJECT, 1, {"artist": "Bo"}, {"artist": "Bo"}),
    "change a field of the parent": change(PROJECT, 2, {"topic": "X"}, {"topic": "X"}),
    "bulk": bulk(PROJECT, [1, 2], {"topic": "C"}, {"topic": "C"}),
    "delete": delete(PROJECT, 1),
}


def make() -> None:
    Art.objects.create(pk=1, topic="A", artist="Ann")
    Science.objects.create(pk=2, topic="S", lab="L")
