from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.parler.models import Album, News, Photo

NEWS, ALBUM = "host.news", "host.album"
OF_THE_PAGE = OF_THE_TEMPLATE = {"en", "nl"}  # the tabs
CASES = {
    "add": add(NEWS, {"title": "New"}, {"title": "New"}, titled=" (English)"),
    "change": change(NEWS, 1, {"title": "B"}, {"title": "B"}, titled=" (English)"),
    "change in Dutch": change(
        *(NEWS, 1, {"title": "Nieuws"}, {"title": "Nieuws"}),
        query="language=nl",
        titled=" (Dutch)",
    ),
    "change by a Dutch browser": change(
        *(NEWS, 1, {"title": "Nieuws"}, {"title": "Nieuws"}), language="nl"
    ),
    "change in English by a Dutch browser": change(
        *(NEWS, 1, {"title": "News"}, {"title": "News"}),
        query="language=en",
        language="nl",
        titled=" (Engels)",
    ),
    "change what is not translated": change(NEWS, 1, {"number": 4}, {"number": "4"}),
    "change a row, and add one": change(
        ALBUM,
        1,
        {"name": "B"},
        {"name": "B", "photos-0-caption": "Old", "photos-1-caption": "New"},
        more={"inlines": {"photos": [{"id": 1, "caption": "Old"}, {"caption": "New"}]}},
        rows=["photos"],
    ),
    "delete a row": change(
        ALBUM,
        1,
        {},
        {"photos-0-DELETE": "on"},
        more={"inlines": {"photos": [{"id": 1, "DELETE": True}]}},
    ),
    "change a row in Dutch": change(
        ALBUM,
        1,
        {},
        {"photos-0-caption": "Foto"},
        more={"inlines": {"photos": [{"id": 1, "caption": "Foto"}]}},
        query="language=nl",
    ),
    "bulk": bulk(NEWS, [1, 2], {"body": "C"}, {"body": "C"}),
    "delete": delete(NEWS, 1),
}


def make() -> None:
    for pk in (1, 2):
        news = News.objects.create(pk=pk, title=f"A{pk}", body="B")
        news.create_translation("nl", title=f"N{pk}")
    album = Album.objects.create(pk=1, name="A")
    photo = Photo.objects.create(pk=1, album=album, caption="P")
    photo.create_translation("nl", caption="F")
