"""“Take that back”: the assistant undoes what it has changed, as a person was shown."""

import pytest
from django.contrib.auth import get_user_model

from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.change import ChangeSet
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume, statuses
from tests.engine.people import given
from tests.tools.data.writing import make_stock
from tests.warehouse.models import Product, Supplier

pytestmark = pytest.mark.django_db(transaction=True)

MODEL = "warehouse.product"


@pytest.fixture
def stock(options):
    options(POLICY={"change_objects": "allow", "undo_changes": "allow"})
    return make_stock()


@pytest.fixture
def ask(play, script):
    """Let the assistant call a tool, in the conversation of a run if one is given."""

    def send(name, arguments, run=None, **fields):
        script.add(reply("", call(name, arguments)), "Done.")
        if run is not None:
            fields["conversation_id"] = run.conversation_id
        return play(**fields)

    return send


@pytest.fixture
def renamed(stock, ask):
    """A run that has renamed lamp and chair."""
    ids = [stock.lamp.pk, stock.chair.pk]
    run = ask("change_objects", {"model": MODEL, "ids": ids, "values": {"note": "x"}})
    assert run.change_sets.count() == 1
    return run


def notes():
    rows = Product.objects.order_by("name").values_list("name", "note")
    return {name: note.strip() for name, note in rows if name != "locked safe"}


def by_hand(product):
    product.refresh_from_db()
    product.note = "by hand"
    product.save()


def key(product):
    return f"{MODEL}:{product.pk}"


def approved(run, **fields):
    answer(given(run, "approve", **fields))
    return resume(run)


def result(run):
    return run.calls.get().result


class TestTakeThatBack:
    @pytest.mark.row("R05")
    def test_what_the_last_run_changed(self, renamed, ask, stock):
        run = ask("undo_changes", {}, renamed)

        # A rule that allows it does not count: it always asks.
        assert run.state == "waiting_approval"
        assert notes() == {"Chair": "x", "Lamp": "x"}
        proposal = run.interrupts.get().proposal
        assert proposal["title"] == "Undo 2 changes"
        fields = [one["fields"][0] for one in proposal["objects"]]
        assert [one["before"] for one in fields] == ["x", "x"]

        run = approved(run)

        assert notes() == {"Chair": "", "Lamp": "kept blanks"}
        assert statuses(run) == ["complete"]
        (undo,) = ChangeSet.objects.filter(kind="undo")
        assert undo.run_id == renamed.pk
        assert not run.change_sets.exists()
        assert result(run)["data"] == {"change": str(undo.pk)}
        audit = AuditEntry.objects.get(action="change.undone")
        assert audit.details["asked_in"] == str(run.pk)

    def test_redo(self, renamed, ask):
        undo = approved(ask("undo_changes", {}, renamed))
        change = result(undo)["data"]["change"]

        run = ask("undo_changes", {"change": change}, renamed)
        assert run.interrupts.get().proposal["title"] == "Redo 2 changes"
        approved(run)

        assert notes() == {"Chair": "x", "Lamp": "x"}

    def test_in_the_run_that_changed_it(self, stock, play, script):
        values = {"model": MODEL, "ids": [stock.chair.pk], "values": {"note": "x"}}
        calls = [call("change_objects", values), call("undo_changes", {})]
        script.add(*(reply("", one) for one in calls), "Done.")

        run = approved(play())

        assert statuses(run) == ["complete", "complete"]
        assert notes()["Chair"] == ""

    def test_rows_that_the_model_names(self, renamed, ask, stock):
        approved(ask("undo_changes", {"rows": [key(stock.chair)]}, renamed))

        assert notes() == {"Chair": "", "Lamp": "x"}

    def test_rows_that_the_person_leaves(self, renamed, ask, stock):
        run = ask("undo_changes", {}, renamed)
        run = approved(run, rows=(key(stock.lamp),))

        assert notes() == {"Chair": "x", "Lamp": "kept blanks"}
        assert statuses(run) == ["complete"]

    def test_rows_of_several_models(self, stock, ask, play, script):
        texts = [
            call("change_objects", {"model": model, "ids": [own], "values": values})
            for model, own, values in (
                (MODEL, stock.chair.pk, {"note": "x"}),
                ("warehouse.supplier", stock.bolt.pk, {"name": "Bolts"}),
            )
        ]
        script.add(reply("", *texts), "Done.")
        run = ask("undo_changes", {}, play())
        assert len(run.interrupts.get().proposal["objects"]) == 2

        approved(run, rows=(f"warehouse.supplier:{stock.bolt.pk}",))

        assert Supplier.objects.get(pk=stock.bolt.pk).name == "Bolt & Co"
        assert notes()["Chair"] == "x"


class TestWhatWasShown:
    def test_conflict_is_said_and_stays(self, renamed, ask, stock):
        by_hand(stock.lamp)

        run = ask("undo_changes", {}, renamed)

        proposal = run.interrupts.get().proposal
        assert proposal["total"] == 1
        assert "“Lamp”: Note stays, it was changed since." in proposal["warnings"]
        approved(run)
        assert notes() == {"Chair": "", "Lamp": "by hand"}

    def test_something_moved_after_the_approval(self, renamed, ask, stock):
        run = ask("undo_changes", {}, renamed)
        answer(given(run, "approve"))
        by_hand(stock.chair)

        run = resume(run)

        assert run.state == "waiting_approval"
        assert notes() == {"Chair": "by hand", "Lamp": "x"}
        assert run.interrupts.get(status="open").proposal["total"] == 1

    def test_another_run_works_in_the_conversation_of_the_change(
        self, renamed, ask, play, script
    ):
        script.add(reply("", call("undo_changes", {})))
        other = play(conversation_id=renamed.conversation_id)
        assert other.state == "waiting_approval"
        run = approved(ask("undo_changes", {"run": str(renamed.pk)}))

        assert result(run)["error_type"] == "busy"
        assert notes() == {"Chair": "x", "Lamp": "x"}


class TestWhatItRefuses:
    @pytest.mark.parametrize("kind", ["run", "call", "change"])
    def test_changes_of_others(self, renamed, ask, kind):
        # Also of a superuser, who may undo them by hand.
        other = get_user_model().objects.create_superuser("eve")
        change = ChangeSet.objects.get()
        keys = {"run": change.run_id, "call": change.call_id, "change": change.pk}

        run = ask("undo_changes", {kind: str(keys[kind])}, user_id=other.pk)

        assert statuses(run) == ["failed"]
        assert "of this user" in result(run)["error"]
        assert notes() == {"Chair": "x", "Lamp": "x"}

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"rows": ["warehouse.product:0"]}, "is not among what was changed"),
            ({"run": "x"}, "run"),
            ({"run": "0" * 32, "call": "0" * 32}, "Give one of"),
        ],
    )
    def test_arguments(self, renamed, ask, arguments, said):
        run = ask("undo_changes", arguments, renamed)

        assert statuses(run) == ["failed"]
        assert said in result(run)["error"]

    def test_nothing_was_changed(self, stock, ask):
        run = ask("undo_changes", {})

        assert "can be undone" in result(run)["error"]

    def test_too_many(self, renamed, ask, monkeypatch):
        monkeypatch.setattr("ai_assistant.engine.undo_tool.MOST_ROWS", 1)

        run = ask("undo_changes", {}, renamed)

        assert "At most 1" in result(run)["error"]

    def test_call_by_another_tool(self, renamed, ask, offer):
        def wraps(context) -> None:
            """Undo it without a card of its own."""
            told.append(context.call_tool("undo_changes"))

        told = []
        offer(wraps, effect="destructive", policy="ask")
        approved(ask("wraps", {}, renamed))

        assert not told[0].ok
        assert notes() == {"Chair": "x", "Lamp": "x"}
        assert Run.objects.filter(state="succeeded").count() == 2
