"""Generated rows within rows: the same as by the page, or the same errors."""

import random
import re

import pytest
from django.contrib import admin
from django.db import transaction
from django.template import Template
from django.test import Client

from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from tests.library.models import Author, Book, Copy
from tests.thorough import examples
from tests.tools.data import pages
from tests.tools.data.oracle.browser import posted_by
from tests.tools.data.oracle.page import trial
from tests.tools.data.oracle.test_generated_forms import errors_told
from tests.tools.data.writing import use

MODEL = "library.author"
COUNT = examples(4)
RAISES = 161  # of the examples in which the page itself raises
# A new row that is left blank is not saved, so what is within it belongs to nothing.
NO_BOOK = "save() prohibited to prevent data loss due to unsaved related object 'book'."

# Django's own templates draw no rows within rows.
DRAWN = """
{% for row in inline_admin_formset %}
  {{ row.form.as_p }}
  {% for inline_admin_formset in row.form.inlines %}
    {{ inline_admin_formset.formset.management_form }}
    {% for row in inline_admin_formset %}{{ row.form.as_p }}{% endfor %}
  {% endfor %}
{% endfor %}
{{ inline_admin_formset.formset.management_form }}
"""
TITLES = ("Sea", "Moon", "Waves", "", "x" * 201)
CODES = ("A", "B", "C", "", "x" * 21)


def generated(rng):
    """Return a ModelAdmin with rows of one of many kinds, and rows within them."""
    base = rng.choice([admin.TabularInline, admin.StackedInline])
    rows = {
        "extra": rng.choice([0, 1, 2]),
        "can_delete": rng.random() < 0.8,
        "readonly_fields": rng.choice([(), (), ("price",)]),
        "model": Book,
        "fields": ("title", "price"),
        "template": Template(DRAWN),
    }
    below = {"extra": rng.choice([0, 1]), "can_delete": rng.random() < 0.8}
    kind = type("GeneratedRows", (base,), rows)
    options = {
        "inlines": (kind,),
        "below": type("GeneratedBelow", (pages.CopyRows,), below),
    }
    return type("GeneratedNestedAdmin", (pages.NestedAdmin,), options)


class Example:
    """An author with some books and their copies, and some changes of them."""

    def __init__(self, rng, boss):
        self.rng, self.boss = rng, boss
        self.author = Author.objects.create(name="Verne")
        for title in ("Old sea", "Old moon")[: rng.randrange(3)]:
            book = Book.objects.create(title=title, author=self.author, price=5)
            for code in ("C-1", "C-2")[: rng.randrange(3)]:
                Copy.objects.create(book=book, code=code)
        self.is_new = rng.random() < 0.3
        own = "add/" if self.is_new else f"{self.author.pk}/change/"
        self.path = f"/admin/library/author/{own}"
        self.client = Client()
        self.client.force_login(boss)
        html = self.client.get(self.path).content.decode()
        self.html = html  # with the boxes that are not ticked
        self.posted = posted_by(html, "author_form")
        self.values = {"name": "Jules"} if self.is_new or rng.random() < 0.5 else {}
        for name, value in self.values.items():
            self.posted[name] = [value]
        self.rows = self.choose("book_set", "title", TITLES, ("copies", "code", CODES))

    def choose(self, prefix, field, words, below=None):
        """Change, delete and add rows of a formset; return them as the tool is told."""
        rows = []
        start = int(self.posted[f"{prefix}-INITIAL_FORMS"][0])
        for number in range(start):
            row = self.of_old(f"{prefix}-{number}", field, words)
            if below and "DELETE" not in row:
                row |= self.choose_below(f"{prefix}-{number}", below)
            if row:
                rows.append({"id": self.posted[f"{prefix}-{number}-id"][0], **row})
        for number in range(start, start + self.rng.choice([0, 0, 1, 2])):
            self.copy_empty(prefix, number)
            row = self.type_in(f"{prefix}-{number}", field, words)
            if below:
                row |= self.choose_below(f"{prefix}-{number}", below)
            rows.append(row)
        return rows

    def choose_below(self, prefix, below):
        name, *rest = below
        rows = self.choose(f"{prefix}-{name}", *rest)
        return {name: rows} if rows else {}

    def of_old(self, prefix, field, words):
        dice = self.rng.random()
        if dice < 0.2 and f'name="{prefix}-DELETE"' in self.html:
            self.posted[f"{prefix}-DELETE"] = ["on"]
            return {"DELETE": True}
        return self.type_in(prefix, field, words) if dice < 0.6 else {}

    def type_in(self, prefix, field, words):
        word = self.rng.choice(words if self.rng.random() < 0.3 else words[:3])
        self.posted[f"{prefix}-{field}"] = [word]
        return {field: word}

    def copy_empty(self, prefix, number):
        """Add a row as the scripts of such packages do, with what is below it."""
        if number < int(self.posted[f"{prefix}-TOTAL_FORMS"][0]):
            return
        for empty in (f"{prefix}-__prefix__-", f"{prefix}-empty-"):
            for name in [one for one in self.posted if one.startswith(empty)]:
                own = f"{prefix}-{number}-{name.removeprefix(empty)}"
                self.posted[own] = list(self.posted[name])
        self.posted[f"{prefix}-TOTAL_FORMS"] = [str(number + 1)]

    # --- what becomes of it ---

    def by_page(self):
        data = {
            name: values
            for name, values in self.posted.items()
            if "__prefix__" not in name and "-empty-" not in name
        }
        return self.client.post(self.path, {**data, "_save": "Save"})

    def tool_call(self):
        """Return the tool that does the same, and its arguments."""
        name = "create_object" if self.is_new else "change_object"
        given = {} if self.is_new else {"id": self.author.pk}
        inlines = {"book_set": self.rows} if self.rows else None
        return name, {
            "model": MODEL,
            **given,
            "values": self.values,
            "inlines": inlines,
        }

    def by_tool(self):
        name, given = self.tool_call()
        return use(name, self.boss, **given)

    def in_run(self):
        """Return the call of a run in which a person approves it."""
        script = [reply("", call(*self.tool_call())), "It fails."]
        played = run_assistant(self.boss, self.path, "Do it.", replies=script)
        if played.interrupts:
            played = answer_interrupt(played, "approve")
        (made,) = played.calls
        return made

    def state(self):
        return [
            sorted(Author.objects.values_list("name")),
            sorted(Book.objects.values_list("author__name", "title", "price")),
            sorted(Copy.objects.values_list("book__title", "code")),
        ]


def errors_of(response):
    """Return the errors of a page, by field and formset, those within rows too."""
    context = getattr(response, "context_data", None)
    if not context:
        return {}
    outer = [one.formset for one in context["inline_admin_formsets"]]
    inner = [
        one.formset for rows in outer for form in rows.forms for one in form.inlines
    ]
    inlines = {
        formset.prefix: [sorted(one) for one in formset.errors if one]
        for formset in [*outer, *inner]
        if any(formset.errors)
    }
    found = {"fields": sorted(context["adminform"].form.errors)}
    return {**found, **({"inlines": inlines} if inlines else {})}


@pytest.mark.parametrize("seed", sorted({*range(COUNT), RAISES}))
def test_same_rows_and_errors_as_the_page(seed, settings, boss):
    rng = random.Random(seed)
    with pages.served(settings, Author, generated(rng)):
        example = Example(rng, boss)
        given = (example.values, example.rows, example.path)
        outcomes = {}

        def act(key, done):
            outcomes[key] = done()

        try:
            by_page = trial(lambda: act("page", example.by_page), example.state)
        except ValueError as error:
            assert str(error) == NO_BOOK, given
            refused_as_the_page(example)
            return
        by_tool = trial(lambda: act("tool", example.by_tool), example.state)

    assert seed != RAISES, "the page does not raise"
    assert errors_told(outcomes["tool"]) == errors_of(outcomes["page"]), given
    assert by_tool == by_page, given


def refused_as_the_page(example):
    """Compare a page that raises: the call fails, says so, and nothing is written."""
    before = example.state()
    with pytest.raises(ValueError, match=re.escape(NO_BOOK)), transaction.atomic():
        example.by_tool()

    made = example.in_run()

    said = f"Tool “{made.name}” failed with an internal error (ValueError)."
    assert (made.status, made.error) == ("failed", said)
    assert example.state() == before
