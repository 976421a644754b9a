"""The tools write the same rows as the page, or are refused with the same errors."""

import random
from itertools import zip_longest

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import clear_url_caches
from django.utils.text import slugify

from tests.thorough import examples
from tests.tools.data.oracle.browser import posted_by, with_row
from tests.tools.data.oracle.form_variants import make_site
from tests.tools.data.oracle.page import trial
from tests.tools.data.reading import context_of, staff
from tests.tools.data.writing import make_stock, use
from tests.warehouse.models import Part, Product, Remark

pytestmark = pytest.mark.django_db

MODEL = "warehouse.product"
COUNT = examples(8)

# By field: what the tool is given, and what a person would type or choose.
GIVEN = {
    "name": [("A lantern", "A lantern"), ("", ""), ("x" * 101, "x" * 101)],
    "sku": [("N-1", "N-1"), ("C-1", "C-1")],
    "status": [("new", "new"), ("sold", "sold"), ("bad", "bad")],
    "price": [("7.25", "7.25"), (7, "7"), ("x", "x")],
    "weight": [(2.5, "2.5"), (None, "")],
    "made_on": [("2026-01-31", {"": "2026-01-31"}), (None, {"": ""})],
    "sold_at": [
        ("2026-01-31T10:20:30Z", {"_0": "2026-01-31", "_1": "10:20:30"}),
        (None, {"_0": "", "_1": ""}),
    ],
    "opens": [("08:15", "08:15:00"), (None, "")],
    "lasts": [("02:00:00", "02:00:00"), (None, "")],
    "is_fragile": [(False, None), (True, "on")],
    "approved": [(False, "false"), (None, "unknown")],
    "data": [({"b": 1}, '{"b": 1}'), ({}, "{}")],
    "note": [("one\ntwo", "one\ntwo"), ("", "")],
    "notify": [(False, None), (True, "on")],
    "reason": [("none", "none")],
}
PARTS = [{"code": "N"}, {"code": "M", "count": 4}, {"code": "P-1"}, {"count": -1}]
ALL_PARTS = ("view_part", "add_part", "change_part", "delete_part")
DATE_PARTS = ("_year", "_month", "_day")


class Example:
    """One generated form, some values for it, and what the page shows of it."""

    def __init__(self, seed, settings):
        self.rng = random.Random(seed)
        site, settings.ROOT_URLCONF = make_site(seed)
        clear_url_caches()
        self.stock = make_stock()
        Part.objects.create(product=self.stock.lamp, code="P-2", count=2)
        Remark.objects.create(product=self.stock.lamp, text="Bright")
        Product.objects.filter(pk=self.stock.lamp.pk).update(cover="covers/a.png")
        self.site = site
        self.is_new = self.rng.random() < 0.4
        self.user = self.make_user()
        self.client = Client()
        self.client.force_login(self.user)
        own = "add/" if self.is_new else f"{self.stock.lamp.pk}/change/"
        self.path = f"/generated/warehouse/product/{own}"
        self.html = self.client.get(self.path).content.decode()
        self.posted = posted_by(self.html, "product_form")
        self.prefix = "own-" if "own-name" in self.posted else ""
        self.parts = "lines" if "lines-TOTAL_FORMS" in self.posted else "parts"
        self.values, self.rows = {}, {}
        self.choose()

    def make_user(self):
        if self.rng.random() < 0.7:
            return get_user_model().objects.create_superuser("root")
        rights = self.rng.choice([("view_part",), ("view_part", "add_part"), ALL_PARTS])
        own = ("view_product", "add_product", "change_product")
        return staff("nora", *own, *rights, "view_remark", "change_remark")

    def shows(self, name):
        """Return whether the page has an input for a field, be it an unticked box."""
        own = f"{self.prefix}{name}"
        if name == "weight":
            return own in self.posted  # else it is disabled
        inputs = [f'name="{own}{end}"' for end in ("", "_0", "_year")]
        return any(one in self.html for one in inputs)

    def choose(self):
        for name, choices in GIVEN.items():
            is_required = self.is_new and name in ("name", "sku")
            if self.shows(name) and (is_required or self.rng.random() < 0.3):
                plain = self.rng.random() < 0.7 or is_required
                plain = plain or (name == "status" and not self.shows("sold_at"))
                value, typed = choices[0] if plain else self.rng.choice(choices)
                if self.type_in(name, typed):
                    self.values[name] = value
        if self.is_new:
            self.values["supplier"] = self.stock.acme.pk
            self.posted[f"{self.prefix}supplier"] = [str(self.stock.acme.pk)]
            self.prepopulate()
        self.choose_marks()
        self.choose_parts()

    def type_in(self, name, typed):
        own = f"{self.prefix}{name}"
        if isinstance(typed, dict) and f"{own}_year" in self.posted:
            parts = typed[""].split("-") if typed[""] else ["", "", ""]
            typed = dict(
                zip(DATE_PARTS, [one.lstrip("0") for one in parts], strict=True)
            )
        if not isinstance(typed, dict):
            typed = {"": typed}
        for end, text in typed.items():
            if text is None:
                self.posted.pop(own + end, None)
            else:
                self.posted[own + end] = [text]
        return True

    def prepopulate(self):
        """Do what the script of the page does, once somebody types a name."""
        form = self.site.get_model_admin(Product)
        own = f"{self.prefix}note"
        if (
            form.prepopulated_fields
            and "note" not in self.values
            and own in self.posted
        ):
            self.posted[own] = [slugify(self.posted[f"{self.prefix}name"][0])[:50]]

    def choose_marks(self):
        form = self.site.get_model_admin(Product)
        if not self.shows("marks") or self.rng.random() < 0.6:
            return
        chosen = self.rng.sample([one.pk for one in self.stock.marks], 2)
        self.values["marks"] = chosen
        texts = [str(one) for one in chosen]
        is_text = "marks" in form.raw_id_fields and "marks" not in form.own_widgets
        self.posted[f"{self.prefix}marks"] = [",".join(texts)] if is_text else texts

    def choose_parts(self):
        own = self.parts
        if f"{own}-TOTAL_FORMS" not in self.posted:
            return
        rows = []
        start = int(self.posted[f"{own}-INITIAL_FORMS"][0])
        may_add = f"{own}-__prefix__-code" in self.posted
        new = self.rng.sample(PARTS, self.rng.choice([0, 0, 1, 2]) if may_add else 0)
        has_count = f"{own}-__prefix__-count" in self.posted
        if start and self.rng.random() < 0.4 and f"{own}-0-code" in self.posted:
            key = self.posted[f"{own}-0-id"][0]
            rows.append({"id": key, "code": "changed"})
            self.posted[f"{own}-0-code"] = ["changed"]
        if (
            start > 1
            and f'name="{own}-1-DELETE"' in self.html
            and self.rng.random() < 0.3
        ):
            rows.append({"id": self.posted[f"{own}-1-id"][0], "DELETE": True})
            self.posted[f"{own}-1-DELETE"] = ["on"]
        for number, row in enumerate(new, start):
            given = {
                key: one for key, one in row.items() if key != "count" or has_count
            }
            with_row(self.posted, own, number)
            for key, one in given.items():
                self.posted[f"{own}-{number}-{key}"] = [str(one)]
            rows.append(given)
        if rows:
            self.rows[own] = rows

    # --- what becomes of it ---

    def by_page(self):
        data = {
            name: values
            for name, values in self.posted.items()
            if "__prefix__" not in name
        }
        return self.client.post(self.path, {**data, "_save": "Save"})

    def by_tool(self):
        if self.is_new:
            name, given = "create_object", {}
        else:
            name, given = "change_object", {"id": self.stock.lamp.pk}
        context = context_of(self.user, view_name=f"{self.site.name}:index")
        given |= {"values": self.values, "inlines": self.rows or None}
        return use(name, self.user, context, model=MODEL, **given)

    def state(self):
        return [
            sorted(map(as_posted, Product.objects.values("pk", *COLUMNS)), key=str),
            sorted(Product.marks.through.objects.values_list("product_id", "mark_id")),
            sorted(Part.objects.values_list("product_id", "code", "count", "pin")),
            sorted(Remark.objects.values_list("product_id", "text")),
        ]


COLUMNS = [
    field.attname
    for field in Product._meta.concrete_fields
    if field.name not in ("id", "updated_at", "number", "seen_at")
]


def as_posted(row):
    """Return the row without what a page loses of values that nobody touches."""
    moment = row["sold_at"] and row["sold_at"].replace(microsecond=0)
    return {**row, "note": row["note"].strip(), "sold_at": moment}


def told(ours, theirs):
    """Return what differs in two rows."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return ours, theirs
    return {key: (ours[key], theirs[key]) for key in ours if ours[key] != theirs[key]}


def errors_of(response):
    context = getattr(response, "context_data", None)
    if not context:
        return {}
    found = dict(context["adminform"].form.errors)
    inlines = {}
    for inline in context["inline_admin_formsets"]:
        rows = [sorted(one) for one in inline.formset.errors if one]
        if rows or inline.formset.non_form_errors():
            inlines[inline.formset.prefix] = rows
    return {"fields": sorted(found), **({"inlines": inlines} if inlines else {})}


def errors_told(result):
    data = result.data or {}
    if result.error_type != "validation":
        return {}
    inlines = {
        prefix: [sorted(one["fields"]) for one in rows if "row" in one]
        for prefix, rows in data.get("inlines", {}).items()
    }
    found = {"fields": sorted(data["fields"])}
    return {**found, **({"inlines": inlines} if inlines else {})}


@pytest.fixture(autouse=True)
def _urls_after():
    yield
    clear_url_caches()


@pytest.mark.parametrize("seed", range(COUNT))
def test_same_rows_and_errors_as_the_page(seed, settings):
    example = Example(seed, settings)
    outcomes = {}

    def act(key, done):
        outcomes[key] = done()

    by_page = trial(lambda: act("page", example.by_page), example.state)
    by_tool = trial(lambda: act("tool", example.by_tool), example.state)

    given = (example.values, example.rows, example.path)
    assert errors_told(outcomes["tool"]) == errors_of(outcomes["page"]), given
    if outcomes["tool"].message.startswith("No change"):
        return  # it would be saved by the page, with code of the site
    differ = [
        told(ours, theirs)
        for own, page in zip(by_tool, by_page, strict=True)
        for ours, theirs in zip_longest(own, page)
        if ours != theirs
    ]
    assert differ == [], given
