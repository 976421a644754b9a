from django.contrib.contenttypes.models import ContentType

from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.polymorphic.models import Art, Science, Step

PROJECT, ART = "host.project", "host.art"
PAGES = ["/admin/host/project/add/"]
CASES = {
    "add a child": add(
        ART, {"topic": "New", "artist": "Ada"}, {"topic": "New", "artist": "Ada"}
    ),
    "add by the parent, on the page of a child": add(
        PROJECT,
        {"topic": "New", "artist": "Ada"},
        {"topic": "New", "artist": "Ada"},
        query=lambda: f"ct_id={ContentType.objects.get_for_model(Art).pk}",
    ),
    "change a child": change(ART, 1, {"artist": "Bo"}, {"artist": "Bo"}),
    "change by the parent": change(PROJECT, 1, {"artist": "Bo"}, {"artist": "Bo"}),
    "change a field of the parent": change(PROJECT, 2, {"topic": "X"}, {"topic": "X"}),
    "change a row, and add one": change(
        ART,
        1,
        {},
        {"steps-0-title": "Old", "steps-1-title": "New"},
        more={"inlines": {"steps": [{"id": 1, "title": "Old"}, {"title": "New"}]}},
        rows=["steps"],
    ),
    "change a row by the parent": change(
        PROJECT,
        1,
        {},
        {"steps-0-title": "Old", "steps-1-title": "New"},
        more={"inlines": {"steps": [{"id": 1, "title": "Old"}, {"title": "New"}]}},
        rows=["steps"],
    ),
    "bulk": bulk(PROJECT, [1, 2], {"topic": "C"}, {"topic": "C"}),
    "delete": delete(PROJECT, 1),
}


def make() -> None:
    art = Art.objects.create(pk=1, topic="A", artist="Ann")
    Step.objects.create(pk=1, project=art, title="S")
    Science.objects.create(pk=2, topic="S", lab="L")
