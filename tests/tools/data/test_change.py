"""An object is changed as its page would change it, and in nothing else."""

import json
import uuid
from datetime import UTC, date, datetime, time, timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.core.exceptions import PermissionDenied

from ai_assistant import ModelRetry, ToolFailed
from ai_assistant.models import Conversation, Message, Run, Step, ToolCall
from tests.tools.data.reading import call, context_of, staff
from tests.tools.data.writing import columns, use
from tests.warehouse.models import Product

MODEL = "warehouse.product"


def change(user, obj, values, **arguments):
    return use(
        "change_object", user, model=MODEL, id=obj.pk, values=values, **arguments
    )


GIVEN = [
    ("name", "A new name", "A new name"),
    ("supplier", "bolt", "bolt"),
    ("status", "new", "new"),
    ("price", "7.25", "7.25"),
    ("price", 7, "7.00"),
    ("weight", 2.75, 2.75),
    ("weight", None, None),
    ("made_on", "2026-01-31", date(2026, 1, 31)),
    ("made_on", None, None),
    ("sold_at", "2026-01-31T10:20:30Z", datetime(2026, 1, 31, 10, 20, 30, tzinfo=UTC)),
    ("sold_at", None, None),
    ("opens", "08:15", time(8, 15)),
    ("lasts", "1 02:00:00", timedelta(days=1, hours=2)),
    ("is_fragile", False, False),
    ("is_fragile", "false", False),
    ("approved", True, True),
    ("approved", "no", False),
    ("data", {"b": None}, {"b": None}),
    ("data", '{"b": 1}', {"b": 1}),
    ("data", [1, "two"], [1, "two"]),
    ("note", "one\ntwo", "one\ntwo"),
    ("backup", "AC", "AC"),
    ("backup", None, None),
]


class TestValues:
    @pytest.mark.parametrize(("name", "value", "kept"), GIVEN)
    def test_only_the_given_field_changes(self, boss, stock, name, value, kept):
        if name == "supplier":
            value = kept = getattr(stock, value).pk
        before = columns(stock.lamp)

        result = change(boss, stock.lamp, {name: value})

        after = columns(stock.lamp)
        column = Product._meta.get_field(name).attname
        differ = {key for key in after if after[key] != before[key]} - {"updated_at"}
        assert result.ok, result.error
        assert str(after[column]) == str(kept)
        expected = {column} if str(before[column]) != str(kept) else set()
        assert differ - {"slug"} == expected
        assert ("slug" in differ) == (name == "name")

    def test_links_are_replaced(self, boss, stock):
        ids = [stock.marks[2].pk, stock.marks[0].pk]

        change(boss, stock.lamp, {"marks": ids})

        assert sorted(stock.lamp.marks.values_list("pk", flat=True)) == sorted(ids)

    def test_links_stay_if_they_are_not_given(self, boss, stock):
        change(boss, stock.lamp, {"note": "x"})

        assert stock.lamp.marks.count() == 2

    def test_numbers_and_times_in_another_language(self, boss, stock, settings):
        settings.LANGUAGE_CODE = "de"
        settings.USE_THOUSAND_SEPARATOR = True
        settings.TIME_ZONE = "Europe/Berlin"
        before = columns(stock.lamp)

        change(boss, stock.lamp, {"weight": "1234.5", "sold_at": "2026-07-01 12:00"})

        after = columns(stock.lamp)
        assert after["weight"] == 1234.5
        assert after["sold_at"] == datetime(2026, 7, 1, 10, tzinfo=UTC)
        assert (after["price"], after["made_on"]) == (
            before["price"],
            before["made_on"],
        )

    def test_same_values_change_nothing(self, boss, stock):
        before = columns(stock.lamp)

        result = change(boss, stock.lamp, {"name": "Lamp", "price": 12.5})

        assert result.ok
        assert result.message == "No change: it already has these values."
        assert columns(stock.lamp) == before
        assert not LogEntry.objects.exists()


class TestRefused:
    def test_null_where_the_column_of_json_takes_none(self, boss, stock):
        with pytest.raises(ModelRetry, match="'data' cannot be null"):
            change(boss, stock.lamp, {"data": None})

        assert columns(stock.lamp)["data"] == {"a": [1, 2]}

    @pytest.mark.parametrize(
        "name",
        ["number", "margin", "api_key", "slug", "updated_at", "cover", "id", "nothing"],
    )
    def test_what_the_page_has_no_input_for(self, boss, stock, name):
        before = columns(stock.lamp)

        with pytest.raises(ModelRetry, match=f"'{name}' of product cannot be given"):
            change(boss, stock.lamp, {name: "1", "note": "x"})

        assert columns(stock.lamp) == before

    def test_readonly_by_the_object(self, boss, stock):
        Product.objects.filter(pk=stock.lamp.pk).update(status="sold")

        with pytest.raises(ModelRetry, match="'price' of product cannot be given"):
            change(boss, stock.lamp, {"price": 1})

    @pytest.mark.parametrize(
        ("values", "field"),
        [
            ({"sku": "C-1"}, "sku"),
            ({"name": ""}, "name"),
            ({"name": "x" * 101}, "name"),
            ({"price": "much"}, "price"),
            ({"price": "1e400"}, "price"),
            ({"status": "gone"}, "status"),
            ({"status": "sold", "sold_at": None}, "sold_at"),
            ({"made_on": "2026-02-30"}, "made_on"),
            ({"supplier": 999_999}, "supplier"),
            ({"supplier": "closed"}, "supplier"),
            ({"supplier": {"a": 1}}, "supplier"),
            ({"marks": [1, 999_999]}, "marks"),
            ({"marks": "x"}, "marks"),
            ({"data": "{"}, None),
            ({"weight": "nan"}, "weight"),
            ({"name": ["a", "b"]}, None),
            ({"backup": "XX"}, "backup"),
        ],
    )
    def test_errors_tell_the_field(self, boss, stock, values, field):
        if values.get("supplier") == "closed":
            values = {"supplier": stock.closed.pk}
        before = columns(stock.lamp)

        result = change(boss, stock.lamp, values)

        if field is None:
            assert result.ok
            return
        assert (result.ok, result.error_type) == (False, "validation")
        assert list(result.data["fields"]) == [field]
        assert columns(stock.lamp) == before

    @pytest.mark.parametrize("huge", [10**30, -(10**30), "9" * 200])
    def test_huge_ids(self, boss, stock, huge):
        with pytest.raises(ModelRetry):
            raise_refusal(change(boss, stock.lamp, {"supplier": huge}))

    def test_object_that_may_not_be_changed(self, boss, stock):
        with pytest.raises(ToolFailed, match="You may not change product “locked safe"):
            change(boss, stock.locked, {"note": "x"})

    def test_object_that_is_hidden(self, boss, stock):
        Product.objects.filter(pk=stock.lamp.pk).update(name="hidden")

        with pytest.raises(ModelRetry, match="There is no product with the id"):
            change(boss, stock.lamp, {"note": "x"})

    @pytest.mark.parametrize("codes", [(), ("view_product",), ("add_product",)])
    def test_user_without_the_permission(self, stock, codes):
        with pytest.raises((ModelRetry, ToolFailed)):
            change(staff("nora", *codes), stock.lamp, {"note": "x"})

    def test_what_the_code_of_the_admin_refuses(self, boss, stock):
        with pytest.raises(PermissionDenied):
            change(boss, stock.lamp, {"name": "forbidden"})
        with pytest.raises(ModelRetry, match="That cannot be"):
            change(boss, stock.lamp, {"name": "impossible"})

        assert columns(stock.lamp)["name"] == "Lamp"


def raise_refusal(result):
    if not result.ok:
        raise ModelRetry(result.error)


class TestHistory:
    def test_history_names_the_assistant_and_its_run(self, boss, stock):
        context = context_of(boss)

        change(boss, stock.lamp, {"name": "Lantern", "price": 3}, context=context)

        entry = LogEntry.objects.get()
        run = str(context.run_id)[:8]
        assert entry.get_change_message() == (
            f"Changed Name and Price. (Assistant, run {run})"
        )
        assert (entry.user, entry.object_id) == (boss, str(stock.lamp.pk))

    def test_history_is_shown_by_the_page(self, boss, stock, client):
        context = context_of(boss)
        change(boss, stock.lamp, {"name": "Lantern"}, context=context)
        client.force_login(boss)

        page = client.get(f"/admin/warehouse/product/{stock.lamp.pk}/history/")

        run = str(context.run_id)[:8]
        assert f"Changed Name. (Assistant, run {run})" in page.text


class TestFreshness:
    def test_version_that_was_given(self, boss, stock):
        read = call("get_object", boss, model=MODEL, id=stock.lamp.pk)
        Product.objects.filter(pk=stock.lamp.pk).update(price=99)

        result = change(boss, stock.lamp, {"note": "x"}, version=read["version"])

        assert (result.ok, result.error_type) == (False, "changed")
        assert result.data["changed"] == {"price": "99.00"}
        assert change(
            boss, stock.lamp, {"note": "x"}, version=result.data["version"]
        ).ok

    def test_version_after_the_own_change(self, boss, stock):
        first = change(boss, stock.lamp, {"price": 5})

        second = change(boss, stock.lamp, {"price": 6}, version=first.data["version"])

        assert second.ok

    def test_version_of_nobody(self, boss, stock):
        with pytest.raises(ModelRetry, match="is not one that a tool returned"):
            change(boss, stock.lamp, {"note": "x"}, version="!")


class TestConversation:
    """Without a version, that of what the model has read last counts."""

    @pytest.fixture
    def context(self, boss):
        context = context_of(boss)
        Conversation.objects.create(id=context.conversation_id, owner=boss)
        return context

    def remember(self, context, name, result, **arguments):
        run = Run.objects.create(
            conversation_id=context.conversation_id,
            user=context.user,
            state="succeeded",
            idempotency_key=uuid.uuid4().hex,
        )
        message = Message.objects.create(
            conversation_id=context.conversation_id,
            role="assistant",
            position=Message.objects.count(),
            run=run,
        )
        step = Step.objects.create(run=run, index=0, message=message)
        ToolCall.objects.create(
            run=run,
            step=step,
            position=0,
            name=name,
            status="complete",
            arguments={"model": MODEL, **arguments},
            result={"ok": True, "data": json.loads(json.dumps(result, default=str))},
        )

    def test_row_changed_since_it_was_read(self, context, stock):
        read = call("get_object", context.user, model=MODEL, id=stock.lamp.pk)
        self.remember(context, "get_object", read, id=stock.lamp.pk)
        Product.objects.filter(pk=stock.lamp.pk).update(name="Torch")

        result = change(context.user, stock.lamp, {"note": "x"}, context=context)

        assert (result.ok, result.error_type) == (False, "changed")
        assert result.data["changed"]["name"] == "Torch"
        assert columns(stock.lamp)["note"] != "x"

    def test_row_that_is_as_it_was_read(self, context, stock):
        read = call("get_object", context.user, model=MODEL, id=stock.lamp.pk)
        self.remember(context, "get_object", read, id=stock.lamp.pk)

        assert change(context.user, stock.lamp, {"note": "x"}, context=context).ok

    def test_own_change_counts_as_read(self, context, stock):
        read = call("get_object", context.user, model=MODEL, id=stock.lamp.pk)
        self.remember(context, "get_object", read, id=stock.lamp.pk)
        first = change(context.user, stock.lamp, {"price": 2}, context=context)
        self.remember(context, "change_object", first.data, id=stock.lamp.pk)

        assert change(context.user, stock.lamp, {"price": 3}, context=context).ok

    def test_bulk_change_of_a_row_that_was_read(self, context, stock):
        read = call("get_object", context.user, model=MODEL, id=stock.lamp.pk)
        self.remember(context, "get_object", read, id=stock.lamp.pk)
        Product.objects.filter(pk=stock.lamp.pk).update(price=99)

        result = use(
            "change_objects",
            context.user,
            context=context,
            model=MODEL,
            ids=[stock.chair.pk, stock.lamp.pk],
            values={"note": "x"},
        )

        assert (result.ok, result.error_type) == (False, "changed")
        assert columns(stock.chair)["note"] == ""
