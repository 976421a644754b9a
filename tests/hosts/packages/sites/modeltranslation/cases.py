from tests.hosts.packages.cases import add, bulk, change, delete
from tests.hosts.packages.sites.modeltranslation.models import Choice, Leaflet, Poll

POLL = "host.poll"
CASES = {
    "add": add(
        POLL,
        {"title_en": "New"},
        {"title_en": "New", "choices-0-label": "Yes"},
        more={"inlines": {"choices": [{"label": "Yes"}]}},
        rows=["choices"],
    ),
    "change": change(POLL, 1, {"title_nl": "B"}, {"title_nl": "B"}),
    "change by a Dutch browser": change(
        "host.leaflet", 1, {"title": "B"}, {"title": "B"}, language="nl"
    ),
    "change a row": change(
        POLL,
        1,
        {"text": "More"},
        {"text": "More", "choices-0-label": "No"},
        more={"inlines": {"choices": [{"id": 1, "label": "No"}]}},
    ),
    "delete a row": change(
        POLL,
        1,
        {},
        {"choices-0-DELETE": "on"},
        more={"inlines": {"choices": [{"id": 1, "DELETE": True}]}},
    ),
    "bulk": bulk(POLL, [1, 2], {"text": "C"}, {"text": "C"}),
    "delete": delete(POLL, 1),
}


def make() -> None:
    Leaflet.objects.create(pk=1, title_en="A", title_nl="A")
    for pk in (1, 2):
        poll = Poll.objects.create(pk=pk, title=f"A{pk}")
        Choice.objects.create(pk=pk, poll=poll, label="Yes")
