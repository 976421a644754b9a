from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.taggit.models import Article, Chapter

ARTICLE = "host.article"
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
    "change a row, and add one": change(
        ARTICLE,
        1,
        {},
        {
            "chapters-0-tags": "blue",
            "chapters-1-name": "New",
            "chapters-1-tags": "one, two",
        },
        more={
            "inlines": {
                "chapters": [
                    {"id": 1, "tags": ["blue"]},
                    {"name": "New", "tags": ["one", "two"]},
                ]
            }
        },
        rows=["chapters"],
    ),
    "delete a row": change(
        ARTICLE,
        1,
        {},
        {"chapters-0-DELETE": "on"},
        more={"inlines": {"chapters": [{"id": 1, "DELETE": True}]}},
    ),
    "bulk": bulk(ARTICLE, [1, 2], {"tags": "blue"}, {"tags": "blue"}),
    "delete": delete(ARTICLE, 1),
}


def make() -> None:
    for pk in (1, 2):
        article = Article.objects.create(pk=pk, title=f"A{pk}")
        article.tags.add("red", "old one")
        Chapter.objects.create(pk=pk, article=article, name="C").tags.add("red")
