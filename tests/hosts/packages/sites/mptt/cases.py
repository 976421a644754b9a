from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.mptt.models import Genre

GENRE = "host.genre"
PAGES = ["/admin/host/genre/"]
CASES = {
    "add below": add(
        GENRE, {"name": "New", "parent": 2}, {"name": "New", "parent": "2"}
    ),
    "rename": change(GENRE, 1, {"name": "B"}, {"name": "B"}),
    "move": change(GENRE, 3, {"parent": 1}, {"parent": "1"}),
    "bulk": bulk(GENRE, [2, 3], {"parent": None}, {"parent": ""}),
    "delete": delete(GENRE, 2),
}


def make() -> None:
    root = Genre.objects.create(pk=1, name="Root")
    child = Genre.objects.create(pk=2, name="Child", parent=root)
    Genre.objects.create(pk=3, name="Leaf", parent=child)
