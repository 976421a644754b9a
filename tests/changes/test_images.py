import datetime
import decimal
import json
import uuid

import pytest
from django.db.models import JSONField, Value
from hypothesis import assume, given
from hypothesis import strategies as st

from ai_assistant.changes.capture import columns, images
from ai_assistant.changes.capture.columns import raw
from ai_assistant.safety.identity.session import CannotUnseal
from tests.gallery.models import Artist, Badge, Painting, Sketch, Specimen, Visitor

SUMMER = datetime.timezone(datetime.timedelta(hours=2))
VALUES = {
    "a_bool": (False, False),
    "a_float": (0.1, 0.1),
    "a_decimal": (decimal.Decimal("1.5"), "1.5000"),
    "a_big_number": (2**62 + 1, 2**62 + 1),
    "a_text": ("<b>\u202eo'k\n", "<b>\u202eo'k\n"),
    "a_date": (datetime.date(2024, 2, 29), "2024-02-29"),
    "a_time": (datetime.time(23, 59, 1, 5), "23:59:01.000005"),
    "a_moment": (
        datetime.datetime(2024, 7, 1, 12, tzinfo=SUMMER),
        "2024-07-01T10:00:00+00:00",
    ),
    "a_duration": (
        datetime.timedelta(days=-1, microseconds=7),
        "-P0DT23H59M59.999993S",
    ),
    "a_uuid": (uuid.UUID(int=7), str(uuid.UUID(int=7))),
    "a_binary": (b"\x00\xff", {"$base64": "AP8="}),
    "a_json": ({"a": [1, None]}, {"a": [1, None]}),
    "a_required_json": ({"$base64": 1}, {"$json": {"$base64": 1}}),
    "an_address": ("::1", "::1"),
    "points": ((3, 4), {"$text": "3;4"}),
}


def field(name):
    return Specimen._meta.get_field(name)


def row_image(model, pk, alias):
    """Return the image of one row, None if it is not there."""
    found = dict(images.row_images(model, [pk], alias))
    return found.get(pk)


@pytest.mark.django_db
class TestImage:
    def test_image_has_every_kind_of_value(self):
        specimen = Specimen.objects.create(
            **{name: value for name, (value, _) in VALUES.items()}
        )

        found = row_image(Specimen, specimen.pk, "default")

        expected = {name: shown for name, (_, shown) in VALUES.items()}
        assert found == {"id": specimen.pk, "visitor_id": None, **expected}
        assert json.loads(json.dumps(found)) == found

    @pytest.mark.parametrize("name", VALUES)
    def test_image_equals_what_a_form_would_write(self, name):
        specimen = Specimen.objects.create(**{name: VALUES[name][0]})

        found = row_image(Specimen, specimen.pk, "default")

        assert images.same_value(found[name], raw(field(name), VALUES[name][0]))

    @pytest.mark.parametrize("name", [*VALUES, "visitor"])
    def test_image_is_none_for_null(self, name):
        if not field(name).null:
            return
        specimen = Specimen.objects.create(**{name: None})

        found = row_image(Specimen, specimen.pk, "default")

        assert found[field(name).attname] is None
        assert raw(field(name), None) is None

    def test_image_tells_null_of_json_from_that_of_sql(self):
        null = Value(None, JSONField())
        specimen = Specimen.objects.create(a_json=null, a_required_json=null)

        found = row_image(Specimen, specimen.pk, "default")

        assert found["a_json"] == found["a_required_json"] == {"$json": None}
        assert raw(field("a_json"), null) == {"$json": None}

    def test_image_has_the_columns_of_parents(self):
        artist = Artist.objects.create(name="A")
        painting = Painting.objects.create(title="P", artist=artist, technique="ink")

        found = row_image(Painting, painting.pk, "default")

        assert (found["title"], found["technique"]) == ("P", "ink")
        assert found["work_ptr_id"] == found["id"] == painting.pk

    def test_image_is_none_without_a_row(self):
        assert row_image(Artist, 99, "default") is None

    def test_seals_what_is_sensitive(self):
        visitor = Visitor.objects.create(name="V", password="hunter2")

        found = row_image(Visitor, visitor.pk, "default")

        assert "hunter2" not in json.dumps(found)
        assert columns.unseal(found["password"]) == "hunter2"
        assert images.same_value(
            found["password"], raw(Visitor._meta.get_field("password"), "hunter2")
        )

    def test_digest_is_of_what_is_sealed(self):
        visitor = Visitor.objects.create(name="V", password="hunter2")
        one, two = (row_image(Visitor, visitor.pk, "default") for _ in range(2))
        Visitor.objects.update(password="other")
        changed = row_image(Visitor, visitor.pk, "default")

        assert one["password"] != two["password"]
        assert (
            images.image_digest(one)
            == images.image_digest(two)
            != images.image_digest(changed)
        )


@pytest.mark.django_db
class TestVersions:
    def test_versions_are_digests_by_row(self):
        one, two = Artist.objects.create(name="A"), Artist.objects.create(name="B")

        found = images.versions(Artist.objects.all())

        assert found == images.versions([one, two])
        assert found[f"gallery.artist:{one.pk}"] == images.image_digest(
            row_image(Artist, one.pk, "default")
        )

    def test_differ_after_a_change_in_the_table_of_a_parent(self):
        artist = Artist.objects.create(name="A")
        painting = Painting.objects.create(title="P", artist=artist)
        before = images.versions([painting])

        Painting.objects.update(title="Q")

        assert images.versions([painting]).keys() == before.keys()
        assert images.versions([painting]) != before

    def test_versions_of_a_proxy_are_those_of_its_table(self):
        artist = Artist.objects.create(name="A")
        sketch = Sketch.objects.create(title="S", artist=artist)

        assert list(images.versions([sketch])) == [f"gallery.work:{sketch.pk}"]

    def test_leave_out_keys_that_are_secrets(self):
        visitor = Visitor.objects.create(name="V")
        badge = Badge.objects.create(token="abc", visitor=visitor)

        assert images.versions([badge]) == {}
        assert "abc" not in images.row_key(Badge, badge.pk)


class TestRaw:
    @pytest.mark.parametrize("number", ["nan", "inf", "-inf", "-0.0"])
    def test_raw_keeps_floats_that_json_has_not(self, number):
        assert raw(field("a_float"), float(number)) == {"$float": number}

    def test_raw_takes_a_related_object(self):
        visitor = Visitor(name="V")

        assert raw(field("visitor"), visitor) == str(visitor.pk)

    @given(
        st.dictionaries(st.text(), st.integers() | st.none() | st.text(), max_size=3)
    )
    def test_raw_of_json_never_looks_like_a_mark(self, value):
        assume(not columns.holds_secret(field("a_json"), value))  # else it is sealed

        found = raw(field("a_json"), value)

        clear = found["$json"] if list(found) == ["$json"] else found
        assert clear == value
        if clear is found:
            assert not any(name.startswith("$") for name in found)


class TestSealed:
    def test_sealed_is_opened_by_a_former_key(self, settings):
        settings.SECRET_KEY = "old"
        value = columns.seal_column([1])
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", ["old"]

        assert columns.unseal(value) == [1]

    def test_sealed_without_the_key_raises(self, settings):
        value = columns.seal_column([1])
        settings.SECRET_KEY = "new"

        with pytest.raises(CannotUnseal, match="SECRET_KEY_FALLBACKS"):
            columns.unseal(value)
