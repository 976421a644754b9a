"""A tool that reads, beside the queryset of the admin."""

from django.contrib import admin
from django.db.models import Count

from project.wiki.models import Page
from tests.bench.data_rows import PAGE, Rows, Work, pairs
from tests.bench.report import emit, median
from tests.bench.requests import request_of

COUNT = 100
PAGE_SIZE = 20


def measure(rows: Rows) -> None:
    """Print what each reading tool takes over the admin's own query for the same."""
    own = admin.site.get_model_admin(Page)
    request = request_of(rows.user, "/admin/wiki/page/")
    some = rows.pages[500].pk

    def listed() -> None:
        found = own.get_queryset(request).order_by("title", "pk")
        found.count()
        list(found[:PAGE_SIZE])

    def searched() -> None:
        found, _ = own.get_search_results(request, own.get_queryset(request), "Page 7")
        found.count()
        list(found.order_by("title", "pk")[:PAGE_SIZE])

    def counted() -> None:
        own.get_queryset(request).aggregate(count=Count("pk", distinct=True))

    works: dict[str, tuple[Work, Work]] = {
        "search_objects": (lambda: rows.use("search_objects", model=PAGE), listed),
        "search_objects_by_words": (
            lambda: rows.use("search_objects", model=PAGE, search="Page 7"),
            searched,
        ),
        "get_object": (
            lambda: rows.use("get_object", model=PAGE, id=some),
            lambda: own.get_object(request, str(some)),
        ),
        "aggregate_objects": (
            lambda: rows.use("aggregate_objects", model=PAGE),
            counted,
        ),
    }
    for name, (ours, theirs) in works.items():
        times = pairs(ours, theirs, COUNT)
        over = median([tool - query for tool, query in times])
        note = f"at most 10; the query itself: {median([q for _, q in times]):.1f} ms"
        emit(f"{name}_over_queryset", over, "ms", n=COUNT, note=note)
