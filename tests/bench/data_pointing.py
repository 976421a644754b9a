"""What `@` takes to find an object among very many."""

import time

from ai_assistant.tools.data.reading.pointing import find_pointed
from project.wiki.models import Page
from tests.bench.data_rows import Rows
from tests.bench.report import emit, median

OBJECTS = 100_000
COUNT = 20
# Words that many rows have, that one row has, and that none has: all are looked at.
WORDS = {
    "by_number": "page 50123",
    "of_many": "Page 77",
    "of_one": "unmistakable",
    "of_none": "nowhere",
}


def measure(rows: Rows) -> None:
    """Print how long the palette waits for the objects of some words."""
    have = Page.objects.count()
    Page.objects.bulk_create(
        [
            Page(
                slug=f"more-{number}", title=f"Page {number}", text="Some words. " * 20
            )
            for number in range(OBJECTS - have)
        ],
        batch_size=2000,
    )
    last = Page.objects.order_by("-pk")[0]
    Page.objects.filter(pk=last.pk).update(text="An unmistakable word.")
    for name, words in WORDS.items():
        took = []
        for _ in range(COUNT):
            begin = time.perf_counter()
            found = find_pointed(rows.context, words)
            took.append((time.perf_counter() - begin) * 1000)
        note = f"at most 200; {OBJECTS} objects, {len(found)} found"
        emit(f"pointing_{name}", median(took), "ms", n=COUNT, note=note)
