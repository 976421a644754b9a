"""What is read of the recorded changes for one page: what is of its object."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.utils import timezone

from ai_assistant.changes import staleness
from ai_assistant.changes.staleness import (
    Part,
    generic_parts,
    rows_since,
    who_changed_object,
)
from ai_assistant.models.change import ChangeSet, RowChange
from tests.gallery.models import Museum, Note, Painting, Work
from tests.warehouse.models import Product

pytestmark = [pytest.mark.django_db, pytest.mark.row("K01")]

PRODUCT, PART = "warehouse.product", "warehouse.part"
PARTS = {Part(PART, "product_id")}
KEY = str(uuid4())
AGO = timezone.now() - timedelta(minutes=5)


@pytest.fixture
def ada(db):
    return get_user_model().objects.create_user("ada")


@pytest.fixture
def record(ada):
    """Note a change of a row: `record(model, id)`, with its images."""
    change_set = ChangeSet.objects.create(user=ada)

    def make(model, key, before=None, after=None):
        return RowChange.objects.create(
            change_set=change_set,
            order=change_set.rows.count(),
            model=model,
            object_id=key,
            before=before,
            after=after,
        )

    return make


def read(key="7"):
    rows = rows_since(AGO, ids_by_table={PRODUCT: [key]}, key=key, parts=PARTS)
    return [row.object_id for row in rows]


class TestRowsSince:
    def test_rows_since_reads_the_object_and_what_names_it(self, record):
        record(PRODUCT, "7")
        record(PART, "1", before={"product_id": 7}, after={"product_id": 8})
        record(PART, "2", before=None, after={"product_id": 7})
        record(PART, "3", before={"product_id": 7}, after=None)

        assert read() == ["7", "1", "2", "3"]

    def test_rows_since_reads_nothing_of_others(self, record):
        record(PRODUCT, "77")
        record(PART, "7", before={"product_id": 77}, after={"product_id": 8})
        record(PART, "8", after={"supplier_id": 7})
        record("warehouse.mark", "7", after={"product_id": 7})

        assert read() == []

    def test_key_may_be_a_text(self, record):
        record(PART, "1", after={"product_id": KEY})

        assert read(KEY) == ["1"]

    @pytest.mark.parametrize("key", ["07", "٧", "7' OR 1=1", ""])
    def test_rows_since_of_another_key_reads_nothing(self, record, key):
        record(PART, "1", after={"product_id": 7})

        assert read(key) == []

    def test_rows_since_of_too_many_reads_the_newest(self, record, monkeypatch):
        monkeypatch.setattr(staleness, "MOST", 2)
        for number in range(4):
            record(PART, str(number), after={"product_id": 7})

        assert read() == ["2", "3"]


class TestGenericRows:
    def test_rows_since_reads_what_names_the_object_with_its_type(self, record):
        kind, other = map(ContentType.objects.get_for_model, (Work, Museum))
        note = {"object_id": "7", "content_type_id": kind.pk}
        record("gallery.note", "1", after=note)
        record("gallery.note", "2", before=note)
        record("gallery.note", "3", after={**note, "content_type_id": other.pk})
        record("gallery.note", "4", after={**note, "object_id": "8"})

        parts = [*generic_parts(Work)]
        found = rows_since(AGO, ids_by_table={}, key="7", parts=parts)

        assert [row.object_id for row in found] == ["1", "2"]

    def test_tables_of_inlines_are_asked_for_too(self):
        (part,) = generic_parts(Museum, [Note])

        kind = ContentType.objects.get_for_model(Museum)
        assert part == Part("gallery.note", "object_id", ("content_type_id", kind.pk))

    def test_each_table_is_named_once(self):
        assert len([*generic_parts(Painting, [Note, Product])]) == 1


class TestHasChanged:
    @pytest.mark.parametrize(
        ("model", "key", "image", "wanted"),
        [
            (PRODUCT, "7", {}, True),
            (PRODUCT, "8", {}, False),
            (PART, "1", {"product_id": 7}, True),
            (PART, "7", {"product_id": 8}, False),
        ],
    )
    def test_has_changed_is_of_the_object(self, record, ada, model, key, image, wanted):
        record(model, key, after=image)

        found = who_changed_object(Product, "7", PARTS, moment=AGO)

        assert found == ({ada.pk} if wanted else set())
