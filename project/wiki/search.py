"""Finds pages by words."""

import re

from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from project.wiki.models import Page

MAX_WORDS = 10
EXCERPT_CHARS = 160


def words_of(query: str) -> list[str]:
    """Return the words of a query that are looked for."""
    return re.findall(r"\w+", query)[:MAX_WORDS]


def search(query: str) -> QuerySet[Page]:
    """Return the pages that hold every word, those with it in the title first."""
    found = Page.objects.all()
    words = words_of(query)
    for word in words:
        found = found.filter(Q(title__icontains=word) | Q(text__icontains=word))
    if not words:
        return found.none()
    hits = Value(0)
    for word in words:
        in_title = When(title__icontains=word, then=Value(1))
        hits = hits + Case(in_title, default=Value(0), output_field=IntegerField())
    return found.annotate(in_title=hits).order_by("-in_title", "title")


def excerpt(page: Page, query: str) -> str:
    """Return the text of a page around the first of the words in it."""
    text = " ".join(page.text.split())
    places = [text.lower().find(word.lower()) for word in words_of(query)]
    first = min((place for place in places if place >= 0), default=0)
    start = max(0, first - EXCERPT_CHARS // 4)
    end = start + EXCERPT_CHARS
    before, after = "… " if start else "", " …" if end < len(text) else ""
    return f"{before}{text[start:end].strip()}{after}"
