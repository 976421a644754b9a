from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.nested_admin.models import Book, Entry, Section

BOOK = "host.book"
CASES = {
    "add": add(BOOK, {"title": "New"}, {"title": "New"}),
    "change the title alone": change(BOOK, 1, {"title": "B"}, {"title": "B"}),
    "change a row": change(
        BOOK,
        1,
        {},
        {"sections-0-name": "Other"},
        more={"inlines": {"sections": [{"id": 1, "name": "Other"}]}},
    ),
    "change a nested row": change(
        BOOK,
        1,
        {},
        {"sections-0-entries-0-text": "Other"},
        more={
            "inlines": {
                "sections": [{"id": 1, "entries": [{"id": 1, "text": "Other"}]}]
            }
        },
    ),
    "bulk": bulk(BOOK, [1, 2], {"title": "C"}, {"title": "C"}),
    "delete": delete(BOOK, 1),
}


def make() -> None:
    for pk in (1, 2):
        book = Book.objects.create(pk=pk, title=f"A{pk}")
        section = Section.objects.create(pk=pk, book=book, name="S")
        Entry.objects.create(pk=pk, section=section, text="E")
