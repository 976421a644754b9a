"""Pages as packages make them are written as a person would post them."""

from datetime import UTC, datetime

import pytest
from django.contrib.admin.models import LogEntry

from ai_assistant import ModelRetry, ToolFailed
from ai_assistant.context.page import page_info
from tests.library.models import Author, Book, Copy
from tests.tools.data import pages
from tests.tools.data.reading import context_of
from tests.tools.data.writing import columns, preview, shown, use
from tests.warehouse.models import Part, Product, Supplier

MODEL = "warehouse.product"


@pytest.fixture
def page(settings, boss, stock):
    """Return what changes the lamp through a page of this kind."""
    contexts = []

    def serve(admin_class):
        context = pages.served(settings, Product, admin_class)
        context.__enter__()
        contexts.append(context)

        def change(opened="/admin/", **arguments):
            context = context_of(boss)
            context.page = page_info(opened)
            given = {"model": MODEL, "id": stock.lamp.pk, **arguments}
            card = preview("change_object", boss, context, **given)
            return card, use("change_object", boss, context, **given)

        return change

    yield serve
    for context in contexts:
        context.__exit__(None, None, None)


def add(boss, stock, opened="/admin/", inlines=None, **values):
    context = context_of(boss)
    context.page = page_info(opened)
    given = {"name": "Desk", "sku": "D-1", "supplier": stock.acme.pk, **values}
    return use(
        "create_object", boss, context, model=MODEL, values=given, inlines=inlines
    )


class TestForm:
    def test_no_field_is_posted_that_the_page_does_not_show(self, page, stock):
        change = page(pages.LooseAdmin)

        _card, result = change(values={"name": "A"})

        assert result.ok
        assert columns(stock.lamp)["margin"] == 7

    def test_such_a_field_cannot_be_given(self, page):
        change = page(pages.LooseAdmin)

        with pytest.raises(ModelRetry, match="'loose' of product cannot be given"):
            change(values={"loose": "x"})

    def test_inputs_of_a_widget_are_read(self, page, stock):
        change = page(pages.RankAdmin)

        change(values={"name": "A"})
        assert columns(stock.lamp)["margin"] == 7
        change(values={"margin": 45})
        assert columns(stock.lamp)["margin"] == 45

    @pytest.mark.parametrize(
        ("values", "note"),
        [
            ({"name": "Über Größe"}, "uber-grosse-d-1"),
            ({"note": "mine"}, "mine"),
        ],
    )
    def test_prepopulated_field_of_a_new_object(self, page, boss, stock, values, note):
        page(pages.PrepopulatedAdmin)

        assert add(boss, stock, **values).ok
        assert Product.objects.get(sku="D-1").note == note

    def test_no_prepopulated_field_of_an_old_one(self, page, stock):
        change = page(pages.PrepopulatedAdmin)
        Product.objects.filter(pk=stock.lamp.pk).update(note="")

        change(values={"name": "A"})

        assert columns(stock.lamp)["note"] == ""


class TestQuery:
    def test_query_of_the_page_on_which_the_user_is(self, page, stock):
        change = page(pages.TabbedAdmin)
        path = f"/admin/warehouse/product/{stock.lamp.pk}/change/?language=nl"

        change(opened=path, values={"note": "hallo"})

        assert columns(stock.lamp)["note"] == "hallo (nl)"

    @pytest.mark.parametrize(
        "opened",
        ["/admin/", "/admin/warehouse/product/?language=nl", "//evil.example/?x=1"],
    )
    def test_no_query_of_another_page(self, page, stock, opened):
        change = page(pages.TabbedAdmin)

        change(opened=opened, values={"note": "hello"})

        assert columns(stock.lamp)["note"] == "hello (en)"

    def test_initial_values_of_the_add_page(self, page, boss, stock):
        page(pages.TabbedAdmin)
        given = {"sku": "D-2", "supplier": stock.acme.pk}
        context = context_of(boss)
        context.page = page_info("/admin/warehouse/product/add/?called=Chest")

        use("create_object", boss, context, model=MODEL, values=given)

        assert Product.objects.get(sku="D-2").name == "Chest"


class TestView:
    def test_saved_says_the_row_and_not_the_response(self, page, stock):
        change = page(pages.OwnViewAdmin)
        before = columns(stock.lamp)

        card, result = change(values={"name": "A"})

        after = columns(stock.lamp)
        differ = {key for key in after if after[key] != before[key]}
        assert result.ok
        assert set(shown(card)) == {"name", "slug"}
        assert differ == {"name", "slug", "updated_at"}  # and no part of a second
        assert "Assistant, run" in LogEntry.objects.get().change_message

    def test_what_a_view_writes_to_show_itself_is_taken_back(self, page, stock, boss):
        page(pages.OwnViewAdmin)
        given = {"model": MODEL, "id": stock.lamp.pk, "values": {"name": "A"}}

        preview("change_object", boss, **given)

        assert not Supplier.objects.filter(name="seen").exists()

    def test_errors_of_such_a_page(self, page, stock):
        change = page(pages.OwnViewAdmin)

        card, result = change(values={"sku": "C-1"})

        assert list(result.data["fields"]) == list(card.data["fields"]) == ["sku"]
        assert columns(stock.lamp)["sku"] == "L-1"

    def test_page_that_hands_over_to_another(self, page, stock):
        change = page(pages.ParentAdmin)

        card, result = change(values={"weight": 4})

        assert result.ok
        assert shown(card) == {"weight": ("1.5", "4.0")}
        assert columns(stock.lamp)["weight"] == 4

    def test_page_that_goes_elsewhere_has_not_saved(self, page, stock, boss):
        change = page(pages.ClosedAdmin)

        with pytest.raises(ToolFailed, match="does not allow it"):
            change(values={"name": "A"})
        with pytest.raises(ToolFailed):
            use(
                "change_object",
                boss,
                model=MODEL,
                id=stock.lamp.pk,
                values={"name": "A"},
            )
        assert columns(stock.lamp)["name"] == "Lamp"


class TestRows:
    def test_row_that_has_to_be_there(self, page, boss, stock):
        page(pages.MinimumAdmin)

        refused = add(boss, stock)
        saved = add(boss, stock, inlines={"parts": [{"code": "A"}]})

        assert refused.data["inlines"] == {
            "parts": [{"row": 0, "fields": {"code": ["This field is required."]}}]
        }
        assert saved.ok
        assert Part.objects.filter(product__sku="D-1").count() == 1

    def test_no_box_that_deletes(self, page, stock):
        change = page(pages.MinimumAdmin)

        with pytest.raises(ModelRetry, match="may not delete 'part'"):
            change(
                values={}, inlines={"parts": [{"id": stock.part.pk, "DELETE": True}]}
            )


@pytest.fixture(params=pages.NESTING)
def nested(request, settings, boss):
    author = Author.objects.create(name="Verne")
    book = Book.objects.create(
        title="Sea",
        author=author,
        added_at=datetime(2024, 1, 1, 1, 1, 1, 5, tzinfo=UTC),
    )
    copy = Copy.objects.create(book=book, code="C-1")
    with pages.served(settings, Author, request.param):
        yield author, book, copy


class TestNested:
    def change(self, boss, author, inlines, values=None):
        given = {"model": "library.author", "id": author.pk, "values": values or {}}
        card = preview("change_object", boss, inlines=inlines, **given)
        return card, use("change_object", boss, inlines=inlines, **given)

    def test_field_of_the_object(self, boss, nested):
        author, book, copy = nested
        before = columns(book), columns(copy)

        _card, result = self.change(boss, author, None, {"name": "Jules"})

        assert result.ok
        assert (columns(book), columns(copy)) == before

    def test_rows_within_rows(self, boss, nested):
        author, book, copy = nested
        rows = [
            {"id": book.pk, "copies": [{"id": copy.pk, "code": "C-9"}, {"code": "N"}]},
            {"title": "New", "price": 1, "copies": [{"code": "A"}, {"code": "B"}]},
        ]

        card, result = self.change(boss, author, {"book_set": rows})

        assert result.ok, result
        kinds = [(one.kind, one.model.partition(".")[2]) for one in card.objects]
        assert kinds.count(("create", "copy")) == 3
        found = set(Copy.objects.values_list("book__title", "code"))
        assert found == {("Sea", "C-9"), ("Sea", "N"), ("New", "A"), ("New", "B")}

    def test_errors_of_rows_within_rows(self, boss, nested):
        author, book, copy = nested
        rows = [{"id": book.pk, "copies": [{"id": copy.pk, "code": ""}]}]

        _card, result = self.change(boss, author, {"book_set": rows})

        assert list(result.data["inlines"]) == ["book_set-0-copies"]
        assert columns(copy)["code"] == "C-1"

    def test_most_rows_of_a_call_count_those_within_rows(self, boss, nested):
        author, book, _copy = nested
        rows = [{"id": book.pk, "copies": [{"code": "N"}] * 200}]

        with pytest.raises(ModelRetry, match="200 rows of inlines at most"):
            self.change(boss, author, {"book_set": rows})
