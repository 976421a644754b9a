from django import VERSION

from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.sortable2.models import Part, Recipe, Step

STEP, RECIPE = "host.step", "host.recipe"
PAGES = ["/admin/host/step/"]
CASES = {
    "add": add(STEP, {"name": "New"}, {"name": "New"}),
    "change": change(STEP, 1, {"name": "B"}, {"name": "B"}),
    "bulk": bulk(STEP, [1, 2], {"name": "C"}, {"name": "C"}),
    "delete": delete(STEP, 2),
}
if VERSION < (6, 1):  # for which the package has no template of its inlines
    CASES |= {
        "change a row, and add one": change(
            RECIPE,
            1,
            {"name": "B"},
            {"name": "B", "parts-0-name": "Old", "parts-2-name": "New"},
            more={"inlines": {"parts": [{"id": 1, "name": "Old"}, {"name": "New"}]}},
            rows=["parts"],
        ),
        "change the order of rows": change(
            RECIPE,
            1,
            {},
            {"parts-0-order": "2", "parts-1-order": "1"},
            more={"inlines": {"parts": [{"id": 1, "order": 2}, {"id": 2, "order": 1}]}},
        ),
        "delete a row": change(
            RECIPE,
            1,
            {},
            {"parts-0-DELETE": "on"},
            more={"inlines": {"parts": [{"id": 1, "DELETE": True}]}},
        ),
    }


def make() -> None:
    recipe = Recipe.objects.create(pk=1, name="R")
    for pk in (1, 2):
        Step.objects.create(pk=pk, name=f"S{pk}", order=pk)
        Part.objects.create(pk=pk, recipe=recipe, name=f"P{pk}", order=pk)
