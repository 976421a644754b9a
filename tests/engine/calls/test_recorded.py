"""What a tool writes and what is kept of it are one transaction, run by run."""

import pytest
from django.db.models.signals import post_save

from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.testing import call, reply
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

NOBODY = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def rename(offer):
    """A tool that renames the effect `old`, and may fail after that."""
    Effect.objects.create(key="old", run=NOBODY)

    def rename(key: str, to: str, fail: bool = False) -> str:  # noqa: FBT001, FBT002
        Effect.objects.filter(key=key).update(key=to)
        if fail:
            raise RuntimeError("after the write")
        return "renamed"

    return offer(rename, effect="write", policy="allow", takes_data=True)


@pytest.fixture
def renamed(rename, play, script):
    """Play a run that renames once for each pair; return it."""

    def run(*pairs, **fields):
        for key, to in pairs:
            script.add(reply("", call("rename", {"key": key, "to": to})))
        script.add("Done.")
        return play(**fields)

    return run


@pytest.mark.row("R01", "R02")
class TestTransaction:
    def test_transaction_has_the_row_before_and_after(self, renamed):
        run = renamed(("old", "new"))

        row = RowChange.objects.get(change_set__run=run)
        assert (row.kind, row.fields) == ("update", ["key"])
        assert (row.before["key"], row.after["key"]) == ("old", "new")

    def test_transaction_that_fails_keeps_neither(self, rename, play, script):
        arguments = {"key": "old", "to": "new", "fail": True}
        script.add(reply("", call("rename", arguments)), "Sorry.")

        run = play()

        assert run.calls.get().status == "failed"
        assert Effect.objects.get().key == "old"
        assert not ChangeSet.objects.exists()

    def test_transaction_takes_the_write_back_if_the_images_cannot_be_kept(
        self, renamed
    ):
        def full(**_):
            raise RuntimeError("no room for images")

        post_save.connect(full, sender=ChangeSet)
        try:
            run = renamed(("old", "new"))
        finally:
            post_save.disconnect(full, sender=ChangeSet)

        assert run.calls.get().status == "failed"
        assert Effect.objects.get().key == "old"


@pytest.mark.row("R06")
def test_each_run_has_its_own_changes(renamed):
    first = renamed(("old", "new"), ("new", "newer"))
    second = renamed(("newer", "newest"), conversation_id=first.conversation_id)

    changed = [
        [row.after["key"] for row in RowChange.objects.filter(change_set__run=run)]
        for run in (first, second)
    ]
    assert changed == [["new", "newer"], ["newest"]]


@pytest.mark.row("X01")
def test_arguments_that_do_not_fit_are_refused_before_anybody_is_asked(
    rename, play, script, options
):
    options(POLICY={"rename": "ask"})
    script.add(reply("", call("rename", {"key": "old"})), "I see.")

    run = play()

    assert run.state == "succeeded"
    assert not run.interrupts.exists()
    assert run.calls.get().status == "failed"
    assert "to" in str(run.calls.get().result["schema_hint"])
