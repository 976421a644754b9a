"""What a module brings back as a whole: how it is taken, tried out and done."""

import pytest

import ai_assistant
from ai_assistant import ModelRetry, RunContext, ToolFailed
from ai_assistant.changes.undo.values import Choice, Outcome, UndoRequest, UndoTarget
from ai_assistant.engine.undo import read_plan, undo
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.render.html.diffs.undo import plan_entry
from ai_assistant.testing import (
    answer_interrupt,
    call,
    reply,
    run_assistant,
)
from tests.engine.undo.conftest import page_of
from tests.warehouse.models import Part, Product

pytestmark = [pytest.mark.django_db, pytest.mark.row("M01"), pytest.mark.row("M02")]


@pytest.fixture
def page(stock, product_module):
    """Return the page of the lamp, for which a module is registered."""
    return page_of(stock.lamp)


@pytest.fixture
def play(boss, page):
    """Let a tool of the site do something on the page of the lamp; return the run."""

    def start(work, **options):
        def tool(context: RunContext) -> str:
            """Do it."""
            work(context)
            return "done"

        options = {"effect": "write", "policy": "allow", **options}
        ai_assistant.tool(name="work", **options)(tool)
        replies = [reply("", call("work")), "Done."]
        played = run_assistant(boss, page, "Do it.", replies=replies)
        if played.calls[0].status == "waiting":
            answer_interrupt(played, "approve")
        run = Run.objects.latest("created_at")
        assert run.calls.filter(parent=None).get().error == ""
        return run

    return start


@pytest.fixture
def renamed(play, stock):
    def work(_context):
        Product.objects.filter(pk=stock.lamp.pk).update(name="Lantern")
        Part.objects.filter(product=stock.lamp).delete()

    return UndoTarget(kind="run", id=play(work).pk)


@pytest.fixture
def take_back(boss):
    def do(target, **choice):
        digest = read_plan(boss.pk, target).digest
        return undo(
            UndoRequest(
                user_id=boss.pk, target=target, digest=digest, choice=Choice(**choice)
            )
        )

    return do


class TestTaken:
    def test_kept_with_the_change(self, renamed, stock):
        (kept,) = ChangeSet.objects.get().snapshots

        assert (kept["module"], kept["object_id"]) == ("product", str(stock.lamp.pk))
        assert kept["before"]["name"] == "Lamp"

    def test_not_loaded_with_the_changes(self, renamed):
        assert "snapshots" in ChangeSet.objects.get().get_deferred_fields()
        (row, *_rest) = RowChange.objects.select_related("change_set")
        assert row.change_set_id

    @pytest.mark.parametrize("options", [{"effect": "read"}, {}])
    def test_not_if_nothing_is_written(self, play, options):
        play(lambda _context: None, **options)

        assert not ChangeSet.objects.exists()

    def test_not_if_only_others_are_written(self, play, stock):
        play(lambda _c: Product.objects.filter(pk=stock.chair.pk).update(name="Stool"))

        assert ChangeSet.objects.get().snapshots is None

    def test_by_a_tool_that_an_external_one_calls(self, play, stock):
        @ai_assistant.tool(effect="write", policy="allow")
        def rename() -> str:
            """Rename it."""
            Product.objects.filter(pk=stock.lamp.pk).update(name="Lantern")
            return "done"

        play(lambda context: context.call_tool("rename"), external=True)

        assert ChangeSet.objects.get().snapshots[0]["before"]["name"] == "Lamp"

    @pytest.mark.parametrize("fault", [ValueError("no"), ModelRetry("no")])
    def test_fault_of_the_module_is_said(self, play, stock, faults, fault, boss):
        faults["take_snapshot"] = fault

        run = play(lambda _c: Product.objects.filter(pk=stock.lamp.pk).update(name="X"))

        assert run.calls.get().status == "complete"
        plan = read_plan(boss.pk, UndoTarget(kind="run", id=run.pk))
        assert [gap["kind"] for gap in plan.gaps] == ["snapshot"]
        assert plan.rows[0].outcome == Outcome.RESTORE


class TestRollback:
    def test_done_and_redone(self, renamed, stock, take_back):
        undone = take_back(renamed)

        assert [row.key for row in undone.rows] == [
            f"product/warehouse.product:{stock.lamp.pk}"
        ]
        stock.lamp.refresh_from_db()
        assert stock.lamp.name == "Lamp"
        assert stock.lamp.parts.exists()
        assert not RowChange.objects.filter(
            change_set__kind="call", undone_by=None
        ).exists()
        take_back(UndoTarget(kind="change", id=undone.change_id))
        stock.lamp.refresh_from_db()
        assert (stock.lamp.name, stock.lamp.parts.count()) == ("Lantern", 0)

    def test_drawn_as_one_row_with_its_parts(self, renamed, boss):
        """Its parts are fields that its own model does not have."""
        plan = read_plan(boss.pk, renamed)
        (row,) = plan_entry(plan, {"run": renamed.id}, "/undo/")["rows"]

        assert "Part" in [one["label"] for one in row["fields"]]

    def test_without_the_rest(self, play, stock, take_back, boss):
        def work(_context):
            Part.objects.filter(product=stock.lamp).delete()
            Product.objects.update(name="Lantern")

        target = UndoTarget(kind="run", id=play(work).pk)
        whole, *rest = read_plan(boss.pk, target).rows
        assert rest

        undone = take_back(target, rows=frozenset([whole.key]))

        assert [row.key for row in undone.rows] == [whole.key]
        stock.lamp.refresh_from_db()
        stock.chair.refresh_from_db()
        assert (stock.lamp.name, stock.chair.name) == ("Lamp", "Lantern")
        assert stock.lamp.parts.exists()
        # What came back along is undone too: the plan is of the rest.
        left = read_plan(boss.pk, target).rows
        assert {row.key for row in left} == {row.key for row in rest}

    @pytest.mark.parametrize(
        ("fault", "why"),
        [
            (ToolFailed("Not now."), "Not now."),
            (ValueError("no"), "It cannot be brought back as a whole"),
        ],
    )
    def test_refused_its_parts_go_alone(
        self, renamed, stock, take_back, faults, fault, why, boss
    ):
        faults["apply_rollback"] = fault

        whole, *rest = read_plan(boss.pk, renamed).rows
        assert (whole.outcome, whole.reason[: len(why)]) == (Outcome.BLOCKED, why)
        assert len(rest) > 1
        take_back(renamed)

        stock.lamp.refresh_from_db()
        assert (stock.lamp.name, stock.lamp.parts.exists()) == ("Lamp", True)

    def test_refused_between_the_look_and_the_press(self, renamed, stock, boss, faults):
        digest = read_plan(boss.pk, renamed).digest
        faults["apply_rollback"] = ToolFailed("Not now.")

        undone = undo(UndoRequest(user_id=boss.pk, target=renamed, digest=digest))

        assert undone.moved is not None
        stock.lamp.refresh_from_db()
        assert stock.lamp.name == "Lantern"

    @pytest.mark.parametrize("way", ["module", "feature", "snapshot"])
    def test_without_its_module_its_rows_do(
        self, renamed, stock, take_back, way, faults
    ):
        if way == "module":
            registry._remove("module", "product")
        elif way == "feature":
            module = registry.modules()["product"]
            type(module).features = {}
        else:
            faults["take_snapshot"] = ValueError("no")

        take_back(renamed)

        stock.lamp.refresh_from_db()
        assert (stock.lamp.name, stock.lamp.parts.exists()) == ("Lamp", True)

    def test_object_that_a_person_deleted(self, renamed, stock, boss):
        Product.objects.filter(pk=stock.lamp.pk).delete()

        assert {row.outcome for row in read_plan(boss.pk, renamed).rows} <= {
            Outcome.GONE,
            Outcome.BLOCKED,
        }

    def test_as_before_already(self, renamed, stock, boss, take_back):
        take_back(renamed)
        RowChange.objects.update(undone_by=None)

        assert all(
            row.outcome == Outcome.SAME for row in read_plan(boss.pk, renamed).rows
        )
