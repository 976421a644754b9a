"""Inlines within rows, which the ModelAdmin of Unfold has of its own."""

from tests.hosts.packages.context import context_on, items_on, use
from tests.hosts.packages.sites.unfold import cases
from tests.hosts.packages.sites.unfold.models import Option

PAGE = "/admin/host/survey/1/change/"


def test_rows_and_names(client, boss):
    context = context_on(PAGE, client, boss)
    (questions,) = use(context, "get_object", model=cases.SURVEY, id=1)["inlines"]
    (told,) = use(context, "describe_model", model=cases.SURVEY)["inlines"]

    (options,) = questions["rows"][0]["inlines"]
    assert [(row["id"], row["text"]) for row in options["rows"]] == [(1, "O")]
    assert (options["name"], told["inlines"][0]["name"]) == ("options", "options")
    opened = items_on(PAGE, client, boss)["object"].value
    assert opened["inlines of rows"] == {"questions": ["options"]}


def test_new_row_with_rows_in_it(client, boss):
    rows = [{"text": "New", "options": [{"label": "One"}, {"label": "Two"}]}]
    given = {"model": cases.SURVEY, "id": 1, "inlines": {"questions": rows}}
    context = context_on(PAGE, client, boss)

    assert use(context, "change_object", values={}, **given).ok

    found = Option.objects.values_list("question__text", "label")
    assert {*found} == {("Q", "O"), ("New", "One"), ("New", "Two")}
