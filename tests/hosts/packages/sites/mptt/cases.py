from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.mptt.models import Genre, Song

GENRE = "host.genre"
PAGES = ["/admin/host/genre/"]
CASES = {
    "add below": add(
        GENRE, {"name": "New", "parent": 2}, {"name": "New", "parent": "2"}
    ),
    "rename": change(GENRE, 1, {"name": "B"}, {"name": "B"}),
    "move": change(GENRE, 3, {"parent": 1}, {"parent": "1"}),
    "change a row, and add one": change(
        GENRE,
        1,
        {"name": "B"},
        {"name": "B", "songs-0-title": "Old", "songs-1-title": "New"},
        more={"inlines": {"songs": [{"id": 1, "title": "Old"}, {"title": "New"}]}},
        rows=["songs"],
    ),
    "delete a row": change(
        GENRE,
        1,
        {},
        {"songs-0-DELETE": "on"},
        more={"inlines": {"songs": [{"id": 1, "DELETE": True}]}},
    ),
    "bulk": bulk(GENRE, [2, 3], {"parent": None}, {"parent": ""}),
    "delete": delete(GENRE, 2),
}


def make() -> None:
    root = Genre.objects.create(pk=1, name="Root")
    child = Genre.objects.create(pk=2, name="Child", parent=root)
    Genre.objects.create(pk=3, name="Leaf", parent=child)
    Song.objects.create(pk=1, genre=root, title="S")
