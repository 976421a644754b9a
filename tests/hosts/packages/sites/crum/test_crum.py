"""django-crum finds the person in rows of inlines, in deletions and in an undo."""

import pytest
from crum import get_current_user
from django.contrib.auth import get_user_model
from django.test import Client

from ai_assistant.changes.undo.values import UndoRequest, UndoTarget
from ai_assistant.engine.undo import read_plan, undo
from ai_assistant.testing import answer_interrupt, call, reply, run_assistant
from tests.hosts.packages.person import Person
from tests.hosts.packages.sites.crum import cases
from tests.hosts.packages.sites.crum.models import Choice, Poll, Removal

ADA = "ada"


def people():
    """Return the person of each row, as the models of the site have found them."""
    rows = {
        f"{model._meta.model_name} {row.pk}": row.saved_by
        for model in (Poll, Choice)
        for row in model.objects.all()
    }
    gone = Removal.objects.values_list("what", "removed_by")
    return rows | {f"{what} removed": who for what, who in gone}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("add", {"poll 3": ADA, "choice 3": ADA}),
        ("change a row", {"poll 1": ADA, "choice 1": ADA}),
        ("delete a row", {"poll 1": ADA, "choice 1 removed": ADA}),
        ("bulk", {"poll 1": ADA, "poll 2": ADA}),
        ("delete", {"poll 1 removed": ADA, "choice 1 removed": ADA}),
    ],
)
def test_person_of_what_a_tool_writes(name, found, boss):
    cases.make()
    before = people()
    assert {*before.values()} == {"None"}
    case = cases.CASES[name]
    given = {"model": case.model, **case.arguments}
    replies = [reply("", call(case.tool, given)), "Done."]
    page = Person(Client(), case).address

    played = run_assistant(boss, page, "Do it.", replies=replies)
    assert (people(), get_current_user()) == (before, None)
    played = answer_interrupt(played, "approve")

    assert played.state == "succeeded", played.error
    after = people()
    assert {key: who for key, who in after.items() if who != before.get(key)} == found
    assert get_current_user() is None


def test_person_of_an_undo(db, monkeypatch):
    cases.make()
    eve = get_user_model().objects.create_superuser("eve")
    given = {"model": "host.poll", "ids": ["1"]}
    replies = [reply("", call("delete_objects", given)), "Done."]
    played = run_assistant(eve, "/admin/host/poll/", "Do it.", replies=replies)
    answer_interrupt(played, "approve")
    target = UndoTarget(kind="run", id=played.run.pk)
    seen = []
    save = Poll.save

    def saving(self, *args, **kwargs):
        save(self, *args, **kwargs)
        seen.append(self.saved_by)

    monkeypatch.setattr(Poll, "save", saving)
    digest = read_plan(eve.pk, target).digest
    done = undo(UndoRequest(user_id=eve.pk, target=target, digest=digest))

    assert done.differing == []
    assert seen == ["eve"]
    assert Poll.objects.get(pk=1).saved_by == "None"  # as it was before
    assert get_current_user() is None
