"""What a call writes is valid as a whole, or is not written: the model gets a hint."""

import pytest
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError

import ai_assistant
from ai_assistant import ContextModule, ModelRetry, RunContext
from ai_assistant.testing import (
    answer_interrupt,
    call,
    reply,
    run_assistant,
    temporary_registration,
)
from tests.tools.data.writing import columns, make_stock
from tests.warehouse.models import Mark, Part, Product

pytestmark = pytest.mark.django_db

LIST = "/admin/warehouse/product/"


@pytest.fixture
def stock(db):
    return make_stock()


@pytest.fixture
def registered():
    with temporary_registration():
        yield


@pytest.fixture
def play(stock, registered):
    user = get_user_model().objects.create_superuser("ada")

    def start(name, page=LIST, **arguments):
        replies = [reply("", call(name, arguments)), "Done."]
        return run_assistant(user, page, "Do it.", replies=replies)

    return start


def tool_that(write, **options):
    def work(context: RunContext) -> str:
        """Do it."""
        write()
        return "done"

    options = {"effect": "write", "policy": "allow", **options}
    ai_assistant.tool(name="work", **options)(work)


@pytest.mark.row("X08")
class TestObjects:
    @pytest.mark.parametrize(
        ("values", "why"),
        [
            ({"status": "broken"}, "status: Value 'broken' is not a valid choice."),
            ({"status": "sold", "sold_at": None}, "sold_at: Say when it was sold."),
        ],
    )
    def test_tool_of_the_site(self, stock, play, values, why):
        tool_that(lambda: Product.objects.filter(pk=stock.lamp.pk).update(**values))
        before = columns(stock.lamp)

        played = play("work")

        assert played.calls[0].status == "failed"
        assert played.calls[0].error == f"It cannot be saved: {why}"
        assert columns(stock.lamp) == before

    def test_what_the_call_does_not_touch_may_be_as_it_is(self, stock, play):
        Product.objects.filter(pk=stock.lamp.pk).update(status="broken")
        tool_that(lambda: Product.objects.filter(pk=stock.lamp.pk).update(note="new"))

        assert play("work").calls[0].status == "complete"

    def test_rows_without_a_page(self, stock, play):
        tool_that(lambda: Part.objects.update(code="x" * 40))

        assert play("work").calls[0].status == "complete"

    def test_nobody_is_asked_for_it(self, stock, play):
        tool_that(
            lambda: Product.objects.update(status="broken"),
            policy="ask",
            preview="transaction",
        )
        played = play("work")

        assert played.interrupts == ()
        assert "not a valid choice" in played.calls[0].error


class Rules(ContextModule):
    matches = ["admin:warehouse_product_*"]  # noqa: RUF012
    roots: list = []  # noqa: RUF012

    def validate(self, context, root):
        self.roots.append(root.pk)
        if root.parts.count() > 1:
            raise ModelRetry("A product has one part. Its schema is {...}.")
        if root.note == "wrong":
            raise ValidationError({"note": "This cannot be."})


@pytest.mark.row("X08")
class TestAggregate:
    @pytest.fixture(autouse=True)
    def rules(self, registered):
        ai_assistant.register(Rules)
        Rules.roots.clear()

    def test_root_is_the_object_of_the_page(self, stock, play):
        page = f"{LIST}{stock.lamp.pk}/change/"
        tool_that(lambda: Part.objects.create(product=stock.lamp, code="second"))

        played = answer_interrupt(play("work", page), "approve")

        assert played.calls[0].error == "A product has one part. Its schema is {...}."
        assert Part.objects.count() == 1

    def test_roots_are_the_written_objects_of_a_list(self, stock, play):
        tool_that(lambda: Product.objects.filter(pk=stock.chair.pk).update(note="n"))

        assert play("work").calls[0].status == "complete"
        assert Rules.roots == [stock.chair.pk]

    def test_data_tool(self, stock, play):
        values = {"note": "wrong"}
        arguments = {"model": "warehouse.product", "id": stock.lamp.pk}
        played = play("change_object", values=values, **arguments)

        assert played.interrupts == ()
        assert "note: This cannot be." in played.calls[0].error
        assert columns(stock.lamp)["note"] != "wrong"

    def test_nobody_is_asked_though_no_code_of_the_site_saves_it(self, stock, play):
        """A Mark is saved by Django alone, so only its module makes a trial of it."""

        class MarkRules(ContextModule):
            matches = ["admin:warehouse_mark_*"]  # noqa: RUF012

            def validate(self, context, root):
                if root.name == "grey":
                    raise ModelRetry("A mark has a colour.")

        ai_assistant.register(MarkRules)
        mark = Mark.objects.first()
        given = {"model": "warehouse.mark", "id": mark.pk, "values": {"name": "grey"}}

        played = play("change_object", page="/admin/warehouse/mark/", **given)

        assert (played.interrupts, played.calls[0].error) == (
            (),
            "A mark has a colour.",
        )

    def test_nothing_was_written(self, stock, play):
        tool_that(lambda: Mark.objects.filter(name="none").delete())

        assert play("work").calls[0].status == "complete"
        assert Rules.roots == []

    def test_approved_write(self, stock, play):
        tool_that(
            lambda: Product.objects.filter(pk=stock.lamp.pk).update(note="fine"),
            policy="ask",
            preview="transaction",
        )
        played = answer_interrupt(play("work"), "approve")

        assert played.calls[0].status == "complete"
        assert set(Rules.roots) == {stock.lamp.pk}
