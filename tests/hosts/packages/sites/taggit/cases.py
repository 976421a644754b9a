from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.taggit.models import Article

ARTICLE = "host.article"
LINKS = {"tags"}  # not among the fields of the open object
CASES = {
    "add": add(
        ARTICLE,
        {"title": "New", "tags": "one, two words"},
        {"title": "New", "tags": "one, two words"},
    ),
    "add with a list": add(
        ARTICLE,
        {"title": "New", "tags": ["one", "two words"]},
        {"title": "New", "tags": 'one, "two words"'},
    ),
    "change the title alone": change(ARTICLE, 1, {"title": "B"}, {"title": "B"}),
    "change the tags": change(ARTICLE, 1, {"tags": "blue"}, {"tags": "blue"}),
    "bulk": bulk(ARTICLE, [1, 2], {"tags": "blue"}, {"tags": "blue"}),
    "delete": delete(ARTICLE, 1),
}


def make() -> None:
    for pk in (1, 2):
        Article.objects.create(pk=pk, title=f"A{pk}").tags.add("red", "old one")
