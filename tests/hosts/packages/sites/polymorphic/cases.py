from django.contrib.contenttypes.models import ContentType

from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.polymorphic.models import (
    Art,
    Cash,
    Order,
    Science,
    Step,
    Transfer,
)

PROJECT, ART, ORDER = "host.project", "host.art", "host.order"
PAGES = ["/admin/host/project/add/"]


def row_typed(number, model, **values):
    """Return what the page's script and a person make a new row of a class of."""
    typed = {f"payments-{number}-{name}": value for name, value in values.items()}
    kind = f"payments-{number}-polymorphic_ctype"
    return {**typed, kind: lambda: str(ContentType.objects.get_for_model(model).pk)}


CASES = {
    "add a child": add(
        ART, {"topic": "New", "artist": "Ada"}, {"topic": "New", "artist": "Ada"}
    ),
    "add by the parent, on the page of a child": add(
        PROJECT,
        {"topic": "New", "artist": "Ada"},
        {"topic": "New", "artist": "Ada"},
        query=lambda: f"ct_id={ContentType.objects.get_for_model(Art).pk}",
    ),
    "change a child": change(ART, 1, {"artist": "Bo"}, {"artist": "Bo"}),
    "change by the parent": change(PROJECT, 1, {"artist": "Bo"}, {"artist": "Bo"}),
    "change a field of the parent": change(PROJECT, 2, {"topic": "X"}, {"topic": "X"}),
    "change a row, and add one": change(
        ART,
        1,
        {},
        {"steps-0-title": "Old", "steps-1-title": "New"},
        more={"inlines": {"steps": [{"id": 1, "title": "Old"}, {"title": "New"}]}},
        rows=["steps"],
    ),
    "change a row by the parent": change(
        PROJECT,
        1,
        {},
        {"steps-0-title": "Old", "steps-1-title": "New"},
        more={"inlines": {"steps": [{"id": 1, "title": "Old"}, {"title": "New"}]}},
        rows=["steps"],
    ),
    "add by the parent of an only child": add(
        "host.document",
        {"title": "New", "receiver": "Ada"},
        {"title": "New", "receiver": "Ada"},
    ),
    "change rows of two classes": change(
        ORDER,
        1,
        {},
        {"payments-0-till": "North", "payments-1-bank": "South"},
        more={
            "inlines": {
                "payments": [{"id": 1, "till": "North"}, {"id": 2, "bank": "South"}]
            }
        },
    ),
    "change a field beside such rows": change(
        ORDER, 1, {"name": "Other"}, {"name": "Other"}
    ),
    "delete a row of a class": change(
        ORDER,
        1,
        {},
        {"payments-1-DELETE": "on"},
        more={"inlines": {"payments": [{"id": 2, "DELETE": True}]}},
    ),
    "add a row of each class": change(
        ORDER,
        1,
        {},
        {
            "payments-TOTAL_FORMS": "4",
            **row_typed(2, Cash, amount="3", till="East"),
            **row_typed(3, Transfer, amount="4", bank="West"),
        },
        more={
            "inlines": {
                "payments": [
                    {"model": "host.cash", "amount": 3, "till": "East"},
                    {"amount": 4, "bank": "West"},
                ]
            }
        },
    ),
    "bulk": bulk(PROJECT, [1, 2], {"topic": "C"}, {"topic": "C"}),
    "delete": delete(PROJECT, 1),
}


# A menu of the package adds these rows, by class: `fill_form` says they are not there.
NOT_FILLED = {"add a row of each class"}


def make() -> None:
    art = Art.objects.create(pk=1, topic="A", artist="Ann")
    Step.objects.create(pk=1, project=art, title="S")
    Science.objects.create(pk=2, topic="S", lab="L")
    order = Order.objects.create(pk=1, name="O")
    Cash.objects.create(pk=1, order=order, amount=1, till="T")
    Transfer.objects.create(pk=2, order=order, amount=2, bank="B")
