import pytest
from django.contrib.auth.models import Permission
from django.db import transaction

from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store, store_as
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import Run
from tests.tables import clear_tables
from tests.warehouse.models import Mark
from tests.web.conftest import asked_to_approve
from tests.web.rest.program import code


@pytest.fixture
def marks(people):
    """Two marks that the assistant has renamed for Ada."""
    perms = Permission.objects.filter(codename__in=["view_mark", "change_mark"])
    people["ada"].user_permissions.add(*perms)
    Mark.objects.all().delete()
    made = [Mark.objects.create(name=name) for name in ("green", "heavy")]
    yield made
    Mark.objects.all().delete()
    clear_tables()


@pytest.fixture
def change(people, marks):
    call = asked_to_approve(people["ada"]).call
    call.run.state = "succeeded"
    call.run.save(update_fields=["state"])
    with transaction.atomic():
        with recording() as recorder:
            for mark in marks:
                mark.name = f"new {mark.name}"
                mark.save()
        return store(recorder, call.run, call, people["ada"])


def names():
    return sorted(Mark.objects.values_list("name", flat=True))


class TestUndo:
    @pytest.mark.parametrize("kind", ["runs", "calls", "changes"])
    def test_undo_and_redo(self, program, change, kind):
        ids = {"runs": change.run_id, "calls": change.call_id, "changes": change.pk}
        ada, path = program(), f"{kind}/{ids[kind]}/undo/"
        plan = ada.get(path).json()
        assert plan["does_something"]
        assert {row["outcome"] for row in plan["rows"]} == {"restore"}
        (field,) = plan["rows"][0]["fields"]
        assert (field["now"], field["restored"]) == ("new heavy", "heavy")

        done = ada.post(path, {"digest": plan["digest"]}).json()

        assert len(done["undone"]) == 2
        assert names() == ["green", "heavy"]
        again = f"changes/{done['change']}/undo/"
        redone = ada.post(again, {"digest": ada.get(again).json()["digest"]})
        assert redone.status_code == 200
        assert names() == ["new green", "new heavy"]

    def test_one_of_two(self, program, change, marks):
        ada, path = program(), f"runs/{change.run_id}/undo/"
        digest = ada.get(path).json()["digest"]

        key = f"warehouse.mark:{marks[0].pk}"
        ada.post(path, {"digest": digest, "rows": [key]})

        assert names() == ["green", "new heavy"]

    def test_moved(self, program, change, marks):
        ada, path = program(), f"runs/{change.run_id}/undo/"
        digest = ada.get(path).json()["digest"]
        Mark.objects.filter(pk=marks[0].pk).update(name="by hand")

        refused = ada.post(path, {"digest": digest})

        assert (refused.status_code, code(refused)) == (409, "moved")
        rows = {row["object_id"]: row for row in refused.json()["plan"]["rows"]}
        conflict = rows[str(marks[0].pk)]
        assert (conflict["outcome"], conflict["can_overrule"]) == ("conflict", True)
        plan = refused.json()["plan"]
        body = {"digest": plan["digest"], "overrule": [conflict["key"]]}
        assert ada.post(path, body).status_code == 200
        assert names() == ["green", "heavy"]

    def test_twice(self, program, change):
        ada, path = program(), f"runs/{change.run_id}/undo/"
        digest = ada.get(path).json()["digest"]
        ada.post(path, {"digest": digest})

        assert code(ada.post(path, {"digest": digest})) == "moved"


class TestGoBack:
    @pytest.fixture
    def later(self, change, people):
        """A second run in the conversation, which the first one's message is above."""
        first = change.run
        second = Run.objects.create(
            conversation=first.conversation,
            user=first.user,
            after=first,
            state="succeeded",
            idempotency_key="later",
        )
        Conversation.objects.filter(pk=first.conversation_id).update(shown_run=second)
        return second

    def shown(self, run):
        return Conversation.objects.get(pk=run.conversation_id).shown_run_id

    def test_changes_go_and_the_branch_ends_above(self, program, change, later):
        ada, path = program(), f"runs/{change.run_id}/go-back/"
        plan = ada.get(path).json()
        assert len(plan["rows"]) == 2

        done = ada.post(path, {"digest": plan["digest"]})

        assert done.status_code == 200
        assert names() == ["green", "heavy"]

    def test_over_several_runs_it_is_redone(self, program, change, marks, later):
        with transaction.atomic():
            with recording() as recorder:
                Mark.objects.filter(pk=marks[0].pk).update(name="newer still")
                Mark.objects.create(name="blue")
            store_as(ChangeSet(run=later, user=later.user), recorder)
        perms = Permission.objects.filter(codename__in=["add_mark", "delete_mark"])
        later.user.user_permissions.add(*perms)
        ada, path = program(), f"runs/{change.run_id}/go-back/"

        done = ada.post(path, {"digest": ada.get(path).json()["digest"]}).json()
        assert names() == ["green", "heavy"]
        again = f"changes/{done['change']}/undo/"
        redone = ada.post(again, {"digest": ada.get(again).json()["digest"]})

        assert redone.json()["differing"] == []
        assert names() == ["blue", "new heavy", "newer still"]
        ada.post(path, {"digest": ada.get(path).json()["digest"]})
        assert names() == ["green", "heavy"]

    def test_changes_may_stay(self, program, change, later):
        answer = program().post(f"runs/{later.pk}/go-back/", {})

        assert answer.json()["change"] is None
        assert self.shown(later) == change.run_id
        assert names() == ["new green", "new heavy"]

    def test_moved(self, program, change, marks):
        ada, path = program(), f"runs/{change.run_id}/go-back/"
        digest = ada.get(path).json()["digest"]
        Mark.objects.filter(pk=marks[0].pk).update(name="by hand")

        assert code(ada.post(path, {"digest": digest})) == "moved"

    def test_of_another_user(self, program, change):
        bob, path = program("bob"), f"runs/{change.run_id}/go-back/"

        assert code(bob.get(path)) == "not_found"
        assert code(bob.post(path, {})) == "not_found"


class TestRefused:
    def test_another_user(self, program, change):
        for path in (f"runs/{change.run_id}", f"changes/{change.pk}"):
            assert code(program("bob").get(f"{path}/undo/")) == "not_found"
            refused = program("bob").post(f"{path}/undo/", {"digest": "x"})
            assert code(refused) == "not_found"

    def test_scope(self, program, change):
        reader = program(scopes=("read", "run"))
        path = f"runs/{change.run_id}/undo/"

        assert reader.get(path).status_code == 200
        assert code(reader.post(path, {"digest": "x"})) == "scope"

    def test_no_permission_now(self, program, change, people):
        people["ada"].user_permissions.remove(
            Permission.objects.get(codename="change_mark")
        )

        plan = program().get(f"runs/{change.run_id}/undo/").json()

        assert {row["outcome"] for row in plan["rows"]} == {"blocked"}
        assert not plan["does_something"]
