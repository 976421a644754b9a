"""Amounts with their currencies: read, filtered, shown and changed in any language."""

from decimal import Decimal

import pytest
from djmoney.money import Money

from ai_assistant import ModelRetry
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store_as
from ai_assistant.models import Run
from ai_assistant.models.change import ChangeSet
from ai_assistant.registry import registry
from ai_assistant.render.html.diffs.differences import difference_entry
from ai_assistant.render.html.diffs.rows import readable_rows
from ai_assistant.tools.arguments import validate_arguments
from tests.hosts.packages.context import context_on, texts_of, use
from tests.hosts.packages.sites.money.models import Offer, Ware
from tests.hosts.packages.test_same_rows import shown_card

WARE = "host.ware"
PAGE = "/admin/host/ware/1/change/"


@pytest.fixture
def client(client):
    Ware.objects.create(pk=3, name="W3", price=Money("1234.50", "EUR"))
    return client


@pytest.fixture
def run(request, client, boss):
    """Return the context of a run in a language, while it lasts; English at first."""
    language = getattr(request, "param", "en")
    context = context_on(PAGE, client, boss, language)
    with Run.objects.get(pk=context.run_id).as_sent():
        yield context


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"price_currency": "GBP"}, ["W1", "W2"]),
        ({"price_currency__in": ["EUR", "CHF"]}, ["W3"]),
        ({"price_currency": "EUR", "price__gte": 1000}, ["W3"]),
        ({"price_currency": "EUR", "price__lt": "1000"}, []),
    ],
)
def test_filter_by_currency(run, filters, found):
    result = use(run, "search_objects", model=WARE, filters=filters, fields=["name"])

    assert sorted(row["fields"]["name"] for row in result["rows"]) == found


def test_sums_by_currency(run):
    result = use(
        *(run, "aggregate_objects"),
        model=WARE,
        group_by=["price_currency"],
        measures=["sum:price"],
    )

    sums = {
        one["group"]["price_currency"]: Decimal(one["sum:price"])
        for one in result["rows"]
    }
    assert sums == {"GBP": Decimal("10.50"), "EUR": Decimal("1234.50")}


def test_no_currency(run):
    with pytest.raises(ModelRetry, match="takes one of"):
        use(run, "search_objects", model=WARE, filters={"price_currency": "XXZ"})


def test_column_of_the_currency_is_described(run):
    fields = use(run, "describe_model", model=WARE)["fields"]

    told = {one["name"]: one.get("currency") for one in fields}
    assert told["price"] == "price_currency"
    assert told["name"] is None


@pytest.mark.parametrize("run", ["en", "de", "fr"], indirect=True)
def test_amounts_are_read_alike(run):
    one = use(run, "get_object", model=WARE, id=3)
    other = use(run, "get_object", model=WARE, id=1)

    assert one["fields"]["price"] == "1234.50 EUR"
    assert one["fields"]["deposit"] is None
    assert other["inlines"][0]["rows"][0]["fields"]["cost"] == "4.00 CHF"


@pytest.mark.parametrize(
    ("run", "before", "after"),
    [("en", "€1,234.50", "€0.99"), ("de", "1.234,50 €", "0,99 €")],
    indirect=["run"],
)
def test_card_speaks_as_its_person(run, before, after):
    tool = registry.tool("change_object")
    given = {"model": WARE, "id": "3", "values": {"price": "0.99"}}
    card = shown_card(tool, run, validate_arguments(tool, given))

    assert texts_of(card)["price"] == (before, after)
    assert "price_currency" not in texts_of(card)
    (drawn,) = difference_entry(card)["objects"]
    assert drawn["fields"][0]["pair"]["new"] == after


@pytest.mark.parametrize("run", ["en", "de"], indirect=True)
@pytest.mark.parametrize("given", ["12.50", 12.5, "12.50 GBP"])
def test_currency_stays_where_the_amount_alone_is_given(run, given):
    result = use(run, "change_object", model=WARE, id="1", values={"price": given})

    assert result.ok, result.error
    assert Ware.objects.get(pk=1).price == Money("12.50", "GBP")


@pytest.mark.parametrize("run", ["en", "de"], indirect=True)
def test_what_is_read_can_be_given_back(run):
    read = use(run, "get_object", model=WARE, id=3)["fields"]["price"]
    use(run, "change_object", model=WARE, id="1", values={"price": read})

    assert Ware.objects.get(pk=1).price == Money("1234.50", "EUR")


@pytest.mark.parametrize("run", ["en", "de"], indirect=True)
def test_currency_of_a_row_stays(run):
    rows = {"offers": [{"id": 1, "cost": 7}]}
    result = use(run, "change_object", model=WARE, id="1", values={}, inlines=rows)

    assert result.ok, result.error
    assert Offer.objects.get(pk=1).cost == Money("7", "CHF")


@pytest.mark.parametrize(
    ("run", "amounts"),
    [("en", ("5.25 GBP", "12.50 GBP")), ("de", ("5,25 GBP", "12,50 GBP"))],
    indirect=["run"],
)
def test_report_names_the_currency(run, boss, amounts):
    with recording() as recorder:
        assert use(run, "change_object", model=WARE, id="1", values={"price": 12.5}).ok
    change = store_as(ChangeSet(user=boss), recorder)
    (row,) = readable_rows(list(change.rows.all()))

    assert [(one.before, one.after) for one in row.fields] == [amounts]
