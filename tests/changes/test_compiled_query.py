"""Queries by keys whose SQL is kept read what those that are built each time read."""

import uuid

import pytest

from ai_assistant.changes.capture import images
from ai_assistant.changes.capture.images import (
    all_rows,
    compiled_by_key,
    read_keys,
    read_values,
)
from ai_assistant.changes.values import columns
from tests.gallery.models import Artist, Badge, Frame, Painting, Specimen, Visitor

pytestmark = pytest.mark.django_db


def make():
    """Return rows of all kinds: keys of numbers, texts, UUIDs, and of a parent's row."""
    artist = Artist.objects.create(name="Anna")
    painting = Painting.objects.create(title="Sea", artist=artist)
    visitor = Visitor.objects.create(id=uuid.UUID(int=7), name="Nora", password="x")
    return (
        artist,
        painting,
        visitor,
        Badge.objects.create(token="t-1", visitor=visitor),
        Frame.objects.create(code="F 1", work=painting),
        Specimen.objects.create(a_json=None, a_required_json={"a": 1}, points=(1, 2)),
        Specimen.objects.create(a_uuid=uuid.UUID(int=3), a_float=0.5),
    )


@pytest.mark.parametrize("others", [0, 1, images.KEYS_COMPILED])
def test_same_rows_either_way(others):
    for row in make():
        model = type(row)
        keys = [row.pk, *range(1000, 1000 + others)]
        if isinstance(row.pk, uuid.UUID):
            keys = [row.pk, *(uuid.UUID(int=9 + number) for number in range(others))]
        built = all_rows(model, "default").filter(pk__in=keys)

        found = read_keys(model, "default", keys, fields=columns(model))
        expected = read_values(built, fields=columns(model))

        # An image that is sealed is another one each time.
        assert [(pk, values) for pk, _image, values in found] == [
            (pk, values) for pk, _image, values in expected
        ]


@pytest.mark.parametrize("model", [Artist, Painting, Visitor, Badge, Frame, Specimen])
def test_query_is_kept(model):
    rows = all_rows(model, "default").values("pk")

    assert compiled_by_key(rows, 2).names == ["pk"]


def test_query_of_other_keys_is_built(monkeypatch):
    def refuse(value):
        raise TypeError(f"{value} is no date")

    monkeypatch.setattr(Artist._meta.pk, "get_prep_value", refuse)

    assert compiled_by_key(all_rows(Artist, "default").values("pk"), 1) is None
