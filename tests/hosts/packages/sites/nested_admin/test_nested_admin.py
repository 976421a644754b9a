"""What a model needs to write rows within rows, it has been told."""

import json

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ai_assistant.changes import stored
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from tests.hosts.packages.context import context_on, items_on, use
from tests.hosts.packages.person import Person
from tests.hosts.packages.rows import differences, state
from tests.hosts.packages.sites.nested_admin import cases
from tests.hosts.packages.sites.nested_admin.models import Entry, Note, Section
from tests.hosts.packages.test_same_rows import tried

PAGE = "/admin/host/book/1/change/"
CASE = cases.CASES["change a row within a nested row"]


def read(client, user):
    """Return the only row of each inline of the book, level by level."""
    context = context_on(PAGE, client, user, key=str(user.pk))
    found = use(context, "get_object", model=cases.BOOK, id=1)
    rows = {}
    while found.get("inlines"):
        (inline,) = found["inlines"]
        (found,) = inline["rows"]
        rows[inline["name"]] = found
    return rows


def names(told):
    return {one["name"]: names(one.get("inlines", ())) for one in told}


def viewer(*models):
    user = get_user_model().objects.create_user("nora", is_staff=True)
    codes = [f"view_{model}" for model in models]
    user.user_permissions.set(Permission.objects.filter(codename__in=codes))
    return user


def test_rows_of_each_level(client, boss):
    rows = read(client, boss)

    assert [*rows] == ["sections", "entries", "notes"]
    assert (rows["notes"]["id"], rows["notes"]["fields"]) == (1, {"text": "N"})


def test_names(client, boss):
    told = use(context_on(PAGE, client, boss), "describe_model", model=cases.BOOK)

    assert names(told["inlines"]) == {"sections": {"entries": {"notes": {}}}}
    opened = items_on(PAGE, client, boss)["object"].value
    assert opened["inlines"] == ["sections"]
    assert opened["inlines of rows"] == {
        "sections": ["entries"],
        "sections.entries": ["notes"],
    }


def test_who_may_not_see_a_level_sees_nothing_of_it(client):
    user = viewer("book", "section", "note")
    client.force_login(user)

    assert [*read(client, user)] == ["sections"]
    told = use(context_on(PAGE, client, user), "describe_model", model=cases.BOOK)
    assert names(told["inlines"]) == {"sections": {}}
    assert "inlines of rows" not in items_on(PAGE, client, user)["object"].value


def test_queries_do_not_grow_with_the_rows(client, boss):
    context = context_on(PAGE, client, boss)

    def queries():
        with CaptureQueriesContext(connection) as asked:
            use(context, "get_object", model=cases.BOOK, id=1)
        return len(asked)

    queries()  # with what a process reads once
    before = queries()
    for number in range(5):
        section = Section.objects.create(book_id=1, name=f"S{number}")
        for _each in range(3):
            entry = Entry.objects.create(section=section, text="E")
            Note.objects.create(entry=entry, text="N")

    assert queries() == before


async def model(request):
    """Read the book, and change the note that is found there."""
    last = request.messages[-1]
    named = {"model": cases.BOOK, "id": "1"}
    if last["role"] != "tool":
        return reply("", call("get_object", named))
    found = last["content"][last["content"].index("{") :]
    data = json.JSONDecoder().raw_decode(found)[0]
    if "inlines" not in data:
        return "Done."
    return reply(
        "",
        call(
            "change_object",
            {**named, "values": {}, "inlines": renamed(data["inlines"])},
        ),
    )


def renamed(inlines):
    """Return the rows that lead to the innermost one, which gets another text."""
    return {
        one["name"]: [
            {
                "id": row["id"],
                **(renamed(row["inlines"]) if "inlines" in row else {"text": "Other"}),
            }
            for row in one["rows"]
        ]
        for one in inlines
    }


def test_whole_way(client, boss):
    real, _fault = tried(Person(client, CASE).act)

    played = run_assistant(boss, PAGE, "Rename the note.", provider=model)
    card = stored.from_json(played.interrupts[0].proposal)
    played = answer_interrupt(played, "approve")

    assert (played.state, played.interrupts) == ("succeeded", ())
    assert [one.name for one in played.calls] == ["get_object", "change_object"]
    assert [one.text for one in card.objects] == ["N"]
    assert differences(state(), real) == []
