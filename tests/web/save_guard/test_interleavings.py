"""
The assistant, a form and another tab, in generated orders, and who loses what.

The oracle knows nothing of digests, records or forms: it keeps who wrote what stands
in each field, and what each tab was opened with.
"""

import random
from dataclasses import dataclass, field

import pytest
from django.contrib.auth import get_user_model

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
INLINE = "parts-0-count"
VALUES = {
    "name": ("Lamp", "Lantern", "Torch", "Candle"),
    "note": ("one", "one\ntwo", "three, “four” & <five>", ""),
    "price": ("12.50", "3.00", "99.99"),
    INLINE: ("3", "8", "9"),
}
CHOICE = "_aia_choice-"


@dataclass
class Held:
    """A field of the row: what it holds, who wrote it, and when."""

    value: str
    by: str = "nobody"
    at: int = 0


@dataclass
class Page:
    """A tab as the oracle knows it: opened when, with what, and what is in it now."""

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

    def values(self):
        return {name: held.value for name, held in self.row.items()}

    def open(self, tab, step):
        self.pages[tab] = Page(step, self.values())

    def change(self, name, value, step):
        self.row[name] = Held(value, "assistant", step)

    def in_question(self, tab):
        page = self.pages[tab]
        return {
            name
            for name, held in self.row.items()
            if held.by == "assistant"
            and held.at > page.at
            and held.value not in (page.opened[name], page.now[name])
        }

    def save(self, tab, taken, step):
        for name, value in self.pages[tab].now.items():
            if name not in taken and value != self.row[name].value:
                self.row[name] = Held(value, "person", step)
        self.open(tab, step)


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
        self.lamp, self.part = stock.lamp, stock.part
        self.path = f"/admin/warehouse/product/{self.lamp.pk}/change/"
        self.tabs = {}

    def values(self):
        lamp = Product.objects.get(pk=self.lamp.pk)
        count = Part.objects.get(pk=self.part.pk).count
        price = f"{lamp.price:.2f}"
        note = lamp.note.replace("\r\n", "\n")
        return {"name": lamp.name, "note": note, "price": price, INLINE: str(count)}

    def open(self, tab):
        self.tabs[tab] = Tab(self.client, self.path, "product_form")

    def fill(self, tab, name, value):
        self.tabs[tab].put(name, value.replace("\n", "\r\n"))

    def change(self, name, value):
        said = {"model": "warehouse.product", "id": str(self.lamp.pk), "values": {}}
        if name == INLINE:
            row = {"id": self.part.pk, "count": int(value)}
            said["inlines"] = {"parts": [row]}
        else:
            said["values"] = {name: value}
        asked = [call("change_object", said)]
        played = run_assistant(self.user, self.path, "Go.", replies=[asked, "Done."])
        played = answer_interrupt(played, "approve")
        assert [one.status for one in played.calls] == ["complete"], played.calls

    def save(self, tab):
        return self.tabs[tab].save("_continue")


def asked_of(answer):
    if answer.status_code != 409:
        return {}
    found = all_with(answer.content.decode(), type="radio", value="take")
    return {one["name"].removeprefix(CHOICE): "checked" in one for one in found}


def press_save(dice, site, oracle, tab, step, score):
    page, due = oracle.pages[tab], oracle.in_question(tab)
    answer = site.save(tab)
    asked = asked_of(answer)
    score.saves += 1
    score.asked += bool(asked)
    score.silent += len(due - asked.keys())
    score.false += len(asked.keys() - due)
    untouched = {name for name in due if page.now[name] == page.opened[name]}
    score.wrong += {name for name, take in asked.items() if take} != untouched
    taken = set(untouched)
    if asked:
        choices = {}
        for name in dice.sample(sorted(due), dice.randint(0, len(due))):
            choices[name] = dice.choice(("take", "keep"))
            (taken.add if choices[name] == "take" else taken.discard)(name)
        answer = decide(site.client, site.path, answer, choices=choices)
    assert answer.status_code == 302
    oracle.save(tab, taken, step)
    site.open(tab)


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
            site.open(tab)
            oracle.open(tab, step)
        elif deed == "fill":
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


@pytest.mark.parametrize("which", part(range(PARTS), every=PARTS))
def test_nobody_loses_anything_in_silence(client, which, record_property):
    user = get_user_model().objects.create_superuser("ada", password="x")
    client.force_login(user)
    score = Score()
    for order in range(which, ORDERS, PARTS):
        stock = make_stock()
        Product.objects.filter(pk=stock.lamp.pk).update(note="one")
        play(random.Random(order), Site(client, user, stock), score)
        Part.objects.all().delete()
        Product.objects.all().delete()
        stock.acme.delete()
        stock.bolt.delete()
        stock.closed.delete()

    record_property(FIGURE, f"interleavings {which}: {score}")
    assert score.asked
    assert (score.silent, score.false, score.wrong) == (0, 0, 0)
