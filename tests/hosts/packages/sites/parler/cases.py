from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.parler.models import News

NEWS = "host.news"
OF_THE_PAGE = OF_THE_TEMPLATE = {"en", "nl"}  # the tabs
CASES = {
    "add": add(NEWS, {"title": "New"}, {"title": "New"}),
    "change": change(NEWS, 1, {"title": "B"}, {"title": "B"}),
    "change in Dutch": change(
        NEWS, 1, {"title": "Nieuws"}, {"title": "Nieuws"}, query="language=nl"
    ),
    "change what is not translated": change(NEWS, 1, {"number": 4}, {"number": "4"}),
    "bulk": bulk(NEWS, [1, 2], {"body": "C"}, {"body": "C"}),
    "delete": delete(NEWS, 1),
}


def make() -> None:
    for pk in (1, 2):
        news = News.objects.create(pk=pk, title=f"A{pk}", body="B")
        news.create_translation("nl", title=f"N{pk}")
