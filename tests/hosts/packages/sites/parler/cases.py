from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.parler.models import News

NEWS = "host.news"
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
    "bulk": bulk(NEWS, [1, 2], {"body": "C"}, {"body": "C"}),
    "delete": delete(NEWS, 1),
}


def make() -> None:
    for pk in (1, 2):
        news = News.objects.create(pk=pk, title=f"A{pk}", body="B")
        news.create_translation("nl", title=f"N{pk}")
