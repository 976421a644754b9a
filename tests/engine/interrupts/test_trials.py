"""What is tried out before it is asked for leaves nothing, and can be done later."""

import uuid

import pytest
from django.db import connections, transaction
from django.utils import timezone

from ai_assistant import Ask, RunContext, ToolFailed
from ai_assistant.changes.capture.databases import taken_back_with, written_ones
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume, statuses
from tests.engine.people import given
from tests.testapp.models import Effect
from tests.warehouse.models import Part, Product, Supplier

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def supplier():
    yield Supplier.objects.create(name="S", code="S1")
    Product.objects.all().delete()
    Supplier.objects.all().delete()


@pytest.fixture
def tried(offer, options, play, script):
    """Return a run that waits with what a tool would do."""

    def start(handler, arguments=None, **fields):
        options(POLICY={})
        offer(handler, effect="write", preview="transaction", **fields)
        script.add(reply("", call(handler.__name__, arguments or {})), "Done.")
        return play()

    return start


class TestTakenBack:
    @pytest.mark.parametrize("fields", [{"external": True}, {"background": True}])
    def test_taken_back_not_what_cannot_be(self, tried, fields):
        done = []

        def send(context: RunContext) -> None:
            """Send a mail."""
            done.append(1)

        run = tried(send, **fields)
        assert (run.state, statuses(run), done) == ("succeeded", ["failed"], [])


class TestShown:
    def test_what_the_others_hang_on_is_named_first(self, tried, supplier):
        product = Product.objects.create(name="P", sku="1", supplier=supplier)
        for code in ("A", "B"):
            Part.objects.create(product=product, code=code)

        def drop(context: RunContext) -> None:
            """Delete a product with its parts."""
            product.delete()

        run = tried(drop)
        proposal = run.interrupts.get().proposal
        assert [one["text"] for one in proposal["objects"]] == ["P", "A", "B"]


class TestSameAgain:
    def test_same_again_stamps_the_time(self, tried, supplier):
        product = Product.objects.create(name="P", sku="1", supplier=supplier)

        def sell(context: RunContext) -> None:
            """Stamp a product as sold now."""
            Product.objects.filter(pk=product.pk).update(sold_at=timezone.now())

        run = tried(sell)
        answer(given(run, "approve"))
        assert resume(run).state == "succeeded"

    def test_another_moment_is_another_change(self, tried, supplier):
        product = Product.objects.create(name="P", sku="1", supplier=supplier)
        moments = [timezone.now().replace(year=year) for year in (2031, 2030)]

        def sell(context: RunContext) -> None:
            """Stamp a product as sold at some time."""
            moment = moments.pop()
            Product.objects.filter(pk=product.pk).update(sold_at=moment)

        run = tried(sell)
        answer(given(run, "approve"))
        assert resume(run).state == "waiting_approval"

    def test_drawn_defaults(self, tried, supplier):
        def add(context: RunContext) -> None:
            """Add a product, which draws a number and notes the time."""
            sku = "1"
            Product.objects.create(name="P", sku=sku, supplier_id=supplier.pk)

        run = tried(add)
        answer(given(run, "approve"))
        assert resume(run).state == "succeeded"

    def test_form_with_a_default_of_now(self, options, play, script, supplier):
        options(POLICY={})
        values = {"name": "N", "sku": "2", "supplier": supplier.pk}
        arguments = {"model": "warehouse.product", "values": values}
        script.add(reply("", call("create_object", arguments)), "Done.")
        run = play()
        proposal = run.interrupts.get().proposal
        (own,) = [
            field
            for field in proposal["objects"][0]["fields"]
            if field["name"] == "seen_at"
        ]
        assert own["after"]
        assert (own["attname"], own["raw"]) == ("", None)

        answer(given(run, "approve"))
        assert (resume(run).state, Product.objects.count()) == ("succeeded", 1)


class TestElsewhere:
    def test_one_database_has_no_others(self):
        assert written_ones() == []

    def test_elsewhere_takes_back_the_run_s_own_too(self):
        with transaction.atomic(), taken_back_with([]) as take_back:
            Effect.objects.create(key="a", run=uuid.uuid4())
            take_back()
        assert not Effect.objects.exists()

    @pytest.fixture
    def other(self, tmp_path, settings):
        """A second database, with the table of effects."""
        default = connections["default"]
        if default.vendor != "sqlite":
            pytest.skip("Makes a file of SQLite.")
        path = tmp_path / "other.sqlite3"
        connections.settings["other"] = {**default.settings_dict, "NAME": str(path)}
        with connections["other"].schema_editor() as editor:
            editor.create_model(Effect)
        yield Effect.objects.using("other")
        connections["other"].close()
        del connections["other"]
        del connections.settings["other"]

    def test_trial_leaves_nothing_there(self, other, tried):
        def add(context: RunContext) -> None:
            """Add an effect in the other database."""
            other.create(key="a", run=context.run_id)

        run = tried(add)
        assert (run.state, other.count()) == ("waiting_approval", 0)

    def test_what_failed_leaves_nothing_there(
        self, other, offer, options, play, script, settings
    ):
        def add(context: RunContext) -> None:
            """Add an effect in the other database, and fail."""
            other.create(key="a", run=context.run_id)
            raise ToolFailed("No.")

        class Away:
            def db_for_write(self, model, **hints):
                return "other" if model is Product else None

        settings.DATABASE_ROUTERS = [Away()]
        options(POLICY={"add": "allow"})
        offer(add, effect="write")
        script.add(reply("", call("add")), "Done.")
        run = play()
        assert (statuses(run), other.count()) == (["failed"], 0)


class TestAsksFirst:
    """A tool that must know more asks before it proposes anything."""

    @pytest.fixture
    def asks(self, tried, supplier):
        def sell(context: RunContext) -> str:
            """Sell the product that is meant."""
            if "which" not in context.answers:
                raise Ask("Which one?", options=("A", "B"), key="which")
            name = str(context.answers["which"])
            Product.objects.create(name=name, sku=name, supplier=supplier)
            return name

        return tried(sell)

    def test_question_comes_before_the_approval(self, asks):
        question = asks.interrupts.get()
        assert (question.kind, question.question) == ("question", "Which one?")
        assert asks.state == "waiting_answer"

        answer(given(asks, "", text="B"))
        run = resume(asks)

        assert run.state == "waiting_approval"
        shown = run.interrupts.get(kind="approval").proposal["objects"]
        assert [one["text"] for one in shown] == ["B"]
        assert not Product.objects.exists()

        answer(given(run, "approve"))
        assert statuses(resume(run)) == ["complete"]
        assert Product.objects.get().name == "B"

    def test_question_that_is_skipped_ends_the_call(self, asks):
        answer(given(asks, "skip"))

        run = resume(asks)
        assert statuses(run) == ["cancelled"]
        assert not run.interrupts.filter(kind="approval").exists()
