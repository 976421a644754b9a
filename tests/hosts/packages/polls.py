"""The acts on polls and their choices, which most sites have as models of their own."""

from django.apps import apps

from tests.hosts.packages.cases import add, bulk, change, delete

POLL = "host.poll"
POLLS = {
    "add": add(
        POLL,
        {"title": "New"},
        {"title": "New", "choices-0-label": "Yes"},
        more={"inlines": {"choices": [{"label": "Yes"}]}},
        rows=["choices"],
    ),
    "change": change(POLL, 1, {"title": "B"}, {"title": "B"}),
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


def make_polls() -> None:
    """Make two polls, each with a choice."""
    for pk in (1, 2):
        poll = apps.get_model(POLL).objects.create(pk=pk, title=f"A{pk}")
        choices = apps.get_model("host.choice").objects
        choices.create(pk=pk, poll=poll, label="Yes")
