"""
The assistant, forms, popups and lists, in generated orders, and who loses what.

The oracle knows nothing of digests, records or forms: it keeps who wrote what stands
in each field, and what each tab was opened with.
"""

import random
from dataclasses import dataclass, field

import pytest
from django.contrib import admin
from django.contrib.admin import helpers
from django.contrib.auth import get_user_model
from django.test.utils import modify_settings
from django.urls import include, path

from ai_assistant.testing import answer_interrupt, call, run_assistant
from tests.figures import FIGURE
from tests.thorough import part
from tests.tools.data.writing import make_stock
from tests.warehouse.models import Part, Product
from tests.web.markup import all_with
from tests.web.tabs import Tab, decide

pytestmark = [pytest.mark.django_db, pytest.mark.row("K01"), pytest.mark.broad]

ORDERS, PARTS = 60, 12
STEPS = 12
INLINE, OTHER = "parts-0-count", "the name of the next row"
VALUES = {
    "name": ("Lamp", "Lantern", "Torch", "Candle"),
    "note": ("one", "one\ntwo", "three, “four” & <five>", ""),
    "price": ("12.50", "3.00", "99.99"),
    INLINE: ("3", "8", "9"),
    OTHER: ("Chair", "Stool", "Bench"),
}
OF_FORM = ("name", "note", "price", INLINE)
KINDS = {"form": OF_FORM, "popup": OF_FORM, "list": ("name", "price", OTHER)}
CHOICE = "_aia_choice-"
LIST = "/admin/warehouse/product/"
# Where each kind of page is, and the id of its form.
PLACES = {
    "form": ("{}", "product_form"),
    "popup": ("{}?_to_field=id&_popup=1", "product_form"),
    "list": (LIST, "changelist-form"),
}


@dataclass
class Held:
    """A field of the row: what it holds, who wrote it, and when."""

    value: str
    by: str = "nobody"
    at: int = 0


@dataclass
class Page:
    """A tab as the oracle knows it: opened when, with what, and what is in it now."""

    kind: str
    at: int
    opened: dict[str, str]
    now: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        self.now = dict(self.opened)


@dataclass
class Oracle:
    """What has to be asked at each Save, and what stands there afterwards."""

    row: dict[str, Held]
    pages: dict[str, Page] = field(default_factory=dict)
    # Field, value before and after, of all that the assistant has written.
    written: set[tuple[str, str, str]] = field(default_factory=set)

    def values(self):
        return {name: held.value for name, held in self.row.items()}

    def open(self, tab, kind, step):
        shown = {name: self.row[name].value for name in KINDS[kind]}
        self.pages[tab] = Page(kind, step, shown)

    def change(self, name, value, step):
        self.written.add((name, self.row[name].value, value))
        self.row[name] = Held(value, "assistant", step)

    def in_question(self, tab):
        page = self.pages[tab]
        return {
            name
            for name, held in self.row.items()
            if name in page.opened
            and held.by == "assistant"
            and held.at > page.at
            and held.value not in (page.opened[name], page.now[name])
        }

    def may_be_asked(self, tab):
        """
        Return what looks as if it was in question, since all happens within seconds.

        A person has put a value there that the assistant had put there shortly before
        the page was opened with what had stood there before that.
        """
        opened = self.pages[tab].opened
        return {
            name
            for name, before, after in self.written
            if opened.get(name) == before and self.row[name].value == after
        }

    def save(self, tab, taken, step):
        for name, value in self.pages[tab].now.items():
            if name not in taken and value != self.row[name].value:
                self.row[name] = Held(value, "person", step)
        self.open(tab, self.pages[tab].kind, step)


@dataclass
class Score:
    saves: int = 0
    asked: int = 0
    silent: int = 0
    false: int = 0
    wrong: int = 0  # defaults and rows that are not as they have to be


class Site:
    """The real ones: middleware, admin, engine, two tabs of one browser."""

    def __init__(self, client, user, stock):
        self.client, self.user = client, user
        self.lamp, self.chair, self.part = stock.lamp, stock.chair, stock.part
        self.path = f"{LIST}{self.lamp.pk}/change/"
        self.tabs = {}

    def values(self):
        lamp = Product.objects.get(pk=self.lamp.pk)
        return {
            "name": lamp.name,
            "note": lamp.note.replace("\r\n", "\n"),
            "price": f"{lamp.price:.2f}",
            INLINE: str(Part.objects.get(pk=self.part.pk).count),
            OTHER: Product.objects.get(pk=self.chair.pk).name,
        }

    def open(self, tab, kind):
        place, form = PLACES[kind]
        self.tabs[tab] = Tab(self.client, place.format(self.path), form)

    def names(self, tab):
        """Return how the fields of the tab are called there."""
        fields = self.tabs[tab].fields
        if "form-TOTAL_FORMS" not in fields:
            return {name: name for name in OF_FORM}
        at = {
            fields[f"form-{row}-id"][0]: f"form-{row}-"
            for row in range(int(fields["form-TOTAL_FORMS"][0]))
        }
        lamp, chair = at[str(self.lamp.pk)], at[str(self.chair.pk)]
        own = {name: f"{lamp}{name}" for name in ("name", "price")}
        return {**own, OTHER: f"{chair}name"}

    def fill(self, tab, name, value):
        self.tabs[tab].put(self.names(tab)[name], value.replace("\n", "\r\n"))

    def change(self, name, value):
        key, field = self.lamp.pk, name
        if name == OTHER:
            key, field = self.chair.pk, "name"
        said = {"model": "warehouse.product", "id": str(key), "values": {}}
        if name == INLINE:
            row = {"id": self.part.pk, "count": int(value)}
            said["inlines"] = {"parts": [row]}
        else:
            said["values"] = {field: value}
        asked = [call("change_object", said)]
        played = run_assistant(self.user, self.path, "Go.", replies=[asked, "Done."])
        played = answer_interrupt(played, "approve")
        assert [one.status for one in played.calls] == ["complete"], played.calls

    def save(self, tab):
        is_list = "form-TOTAL_FORMS" in self.tabs[tab].fields
        return self.tabs[tab].save("_save" if is_list else "_continue")


def asked_of(answer):
    if answer.status_code != 409:
        return {}
    found = all_with(answer.content.decode(), type="radio", value="take")
    return {one["name"].removeprefix(CHOICE): "checked" in one for one in found}


def press_save(dice, site, oracle, tab, step, score):
    page, due = oracle.pages[tab], oracle.in_question(tab)
    answer = site.save(tab)
    there = site.names(tab)
    known = {html: name for name, html in there.items()}
    asked = {known.get(html, html): take for html, take in asked_of(answer).items()}
    score.saves += 1
    score.asked += bool(asked)
    score.silent += len(due - asked.keys())
    due |= oracle.may_be_asked(tab) & asked.keys()
    score.false += len(asked.keys() - due)
    untouched = {name for name in due if page.now[name] == page.opened[name]}
    score.wrong += {name for name, take in asked.items() if take} != untouched
    taken = set(untouched)
    if asked:
        choices = {}
        for name in dice.sample(sorted(due), dice.randint(0, len(due))):
            choice = choices[there[name]] = dice.choice(("take", "keep"))
            (taken.add if choice == "take" else taken.discard)(name)
        answer = decide(site.client, site.tabs[tab].path, answer, choices=choices)
    assert answer.status_code == (200 if page.kind == "popup" else 302)
    assert page.kind != "popup" or b"data-popup-response" in answer.content
    oracle.save(tab, taken, step)
    site.open(tab, page.kind)


def play(dice, site, score):
    """Play one order of opening, changing, filling in, saving and loading."""
    oracle = Oracle({name: Held(value) for name, value in site.values().items()})
    told = []
    for step in range(1, STEPS + 1):
        tab = dice.choice("AB")
        deed = dice.choice(("open", "change", "change", "fill", "fill", "save"))
        name = dice.choice(list(VALUES))
        others = [one for one in VALUES[name] if one != oracle.row[name].value]
        value = dice.choice(others)
        if deed == "change":
            site.change(name, value)
            oracle.change(name, value, step)
        elif deed == "open" or tab not in oracle.pages:
            deed = "open"
            kind = dice.choice([*KINDS])
            name, value = kind, ""
            site.open(tab, kind)
            oracle.open(tab, kind, step)
        elif deed == "fill":
            name = dice.choice(KINDS[oracle.pages[tab].kind])
            value = dice.choice(VALUES[name])
            site.fill(tab, name, value)
            oracle.pages[tab].now[name] = value
        else:
            press_save(dice, site, oracle, tab, step, score)
        told.append((deed, tab, name, value))
        assert site.values() == oracle.values(), "\n".join(map(str, told))
    for tab in oracle.pages:
        press_save(dice, site, oracle, tab, STEPS + 1, score)
        assert site.values() == oracle.values(), "\n".join(map(str, told))


class Editable:
    """What makes rows of the list of products be edited in the list itself."""

    list_display = ("sku", "name", "price")
    list_editable = ("name", "price")


@pytest.fixture
def stock_admin(monkeypatch):
    """The list of products with fields in it."""
    own = admin.site.get_model_admin(Product)
    for name in ("list_display", "list_editable"):
        monkeypatch.setattr(own, name, getattr(Editable, name))


@pytest.fixture
def unfold_admin(monkeypatch, settings):
    """The same site in django-unfold, whose pages have templates and classes of its own."""
    # Unfold puts its own site there when it loads.
    stock = admin.site
    monkeypatch.setattr(admin, "site", stock)
    monkeypatch.setattr(admin.sites, "site", admin.sites.site)
    # Its pages put their own classes in the place of Django's, in all of the process.
    for name in ("AdminForm", "Fieldline"):
        monkeypatch.setattr(helpers, name, getattr(helpers, name))
    with modify_settings(INSTALLED_APPS={"prepend": "unfold"}):
        from tests.themes.unfolded import dress_admin  # it needs the app

        for model, own in stock._registry.items():
            more = [Editable] if model is Product else []
            admin.site.register(model, dress_admin(own, more=more))
        settings.ROOT_URLCONF = Addresses(admin.site)
        yield


class Addresses:
    """The addresses of a site that is made while the tests run."""

    def __init__(self, site):
        self.urlpatterns = [
            path("admin/", site.urls),
            path("assistant/", include("ai_assistant.urls")),
        ]


def play_orders(client, orders):
    user = get_user_model().objects.create_superuser("ada", password="x")
    client.force_login(user)
    score = Score()
    for order in orders:
        stock = make_stock()
        Product.objects.filter(pk=stock.lamp.pk).update(note="one")
        play(random.Random(order), Site(client, user, stock), score)
        Part.objects.all().delete()
        Product.objects.all().delete()
        stock.acme.delete()
        stock.bolt.delete()
        stock.closed.delete()
    return score


@pytest.mark.parametrize("which", part(range(PARTS), every=PARTS - 1))
def test_nobody_loses_anything_in_silence(client, which, request, record_property):
    theme = "unfold" if which % 2 else "stock"
    request.getfixturevalue(f"{theme}_admin")
    score = play_orders(client, range(which, ORDERS, PARTS))

    record_property(FIGURE, f"interleavings {which}, {theme}: {score}")
    assert score.asked
    assert (score.silent, score.false, score.wrong) == (0, 0, 0)
