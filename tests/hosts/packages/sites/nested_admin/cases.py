from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.nested_admin.models import Book, Entry, Note, Section

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
    "change a row within a nested row": change(
        BOOK,
        1,
        {},
        {"sections-0-entries-0-notes-0-text": "Other"},
        more={
            "inlines": {
                "sections": [
                    {
                        "id": 1,
                        "entries": [
                            {"id": 1, "notes": [{"id": 1, "text": "Other"}]},
                        ],
                    }
                ]
            }
        },
    ),
    "bulk": bulk(BOOK, [1, 2], {"title": "C"}, {"title": "C"}),
    "delete": delete(BOOK, 1),
}
OF_THE_PAGE = {"sections-1-position"}  # whose script numbers new rows
# What a person does with several clicks: the form is filled in, and looked at.
FILLED = {
    "add a row with rows in it": change(
        BOOK,
        1,
        {},
        {},
        more={
            "inlines": {
                "sections": [
                    {"name": "New", "entries": [{"text": "One"}, {"text": "Two"}]}
                ]
            }
        },
    ),
    "remove a nested row, and add another": change(
        BOOK,
        1,
        {"title": "B"},
        {},
        more={
            "inlines": {
                "sections": [
                    {"id": 1, "entries": [{"id": 1, "DELETE": True}, {"text": "New"}]}
                ]
            }
        },
    ),
    "add a row at the third level": change(
        BOOK,
        1,
        {},
        {},
        more={
            "inlines": {
                "sections": [
                    {
                        "id": 1,
                        "entries": [
                            {"id": 1, "notes": [{"text": "One"}]},
                            {"text": "New", "notes": [{"text": "Two"}]},
                        ],
                    }
                ]
            }
        },
    ),
    "remove a row": change(
        BOOK, 1, {}, {}, more={"inlines": {"sections": [{"id": 1, "DELETE": True}]}}
    ),
    "add all at once": add(
        BOOK,
        {"title": "New"},
        {},
        more={
            "inlines": {
                "sections": [
                    {"name": "First", "entries": [{"text": "One"}]},
                    {"name": "Second", "entries": [{"text": "Two"}]},
                ]
            }
        },
    ),
}


def make() -> None:
    for pk in (1, 2):
        book = Book.objects.create(pk=pk, title=f"A{pk}")
        section = Section.objects.create(pk=pk, book=book, name="S")
        entry = Entry.objects.create(pk=pk, section=section, text="E")
        Note.objects.create(pk=pk, entry=entry, text="N")
