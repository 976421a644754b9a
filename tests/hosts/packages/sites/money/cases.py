from djmoney.money import Money

from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.money.models import Offer, Ware

WARE = "host.ware"
CASES = {
    "add": add(
        WARE,
        {"name": "Pen", "price": "9.50"},
        {"name": "Pen", "price_0": "9.50", "price_1": "USD"},
    ),
    "add in a currency": add(
        WARE,
        {"name": "Pen", "price": ["9.50", "CHF"]},
        {"name": "Pen", "price_0": "9.50", "price_1": "CHF"},
    ),
    "change the name alone": change(WARE, 1, {"name": "Ink"}, {"name": "Ink"}),
    "change a number": change(WARE, 1, {"price": 12}, {"price_0": "12"}),
    "change both": change(
        WARE,
        1,
        {"price": ["3", "EUR"]},
        {"price_0": "3", "price_1": "EUR"},
    ),
    "change a row, and add one": change(
        WARE,
        1,
        {},
        {
            "offers-0-cost_0": "3",
            "offers-0-cost_1": "EUR",
            "offers-1-cost_0": "5",
            "offers-1-cost_1": "USD",
        },
        more={"inlines": {"offers": [{"id": 1, "cost": ["3", "EUR"]}, {"cost": 5}]}},
        rows=["offers"],
    ),
    "no number": change(WARE, 1, {"price": "much"}, {"price_0": "much"}, refused=True),
    "bulk": bulk(WARE, [1, 2], {"price": "7"}, {"price_0": "7"}),
    "delete": delete(WARE, 2),
}


def make() -> None:
    for pk in (1, 2):
        ware = Ware.objects.create(pk=pk, name=f"W{pk}", price=Money("5.25", "GBP"))
        Offer.objects.create(pk=pk, ware=ware, cost=Money("4", "CHF"))
