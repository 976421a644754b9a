"""Columns that only some databases have, and those that the database computes."""

import datetime
from contextlib import contextmanager

import pytest
from django.apps import apps
from django.db import connection, models
from django.db.models import F

from ai_assistant.changes.undo.values import Outcome
from ai_assistant.changes.values import _by_table

pytestmark = pytest.mark.django_db(transaction=True)
of_postgres = pytest.mark.skipif(
    "connection.vendor != 'postgresql'", reason="of PostgreSQL only"
)
APP = "gallery"


@contextmanager
def table(name, **fields):
    """Make a model of these fields, with its table."""
    options = type("Meta", (), {"app_label": APP})
    body = {**fields, "Meta": options, "__module__": __name__}
    model = type(name, (models.Model,), body)
    _by_table.cache_clear()
    try:
        with connection.schema_editor() as editor:
            editor.create_model(model)
        yield model
    finally:
        with connection.schema_editor() as editor:
            editor.delete_model(model)
        del apps.all_models[APP][name.lower()]
        apps.clear_cache()
        _by_table.cache_clear()


@pytest.fixture
def period():
    from django.contrib.postgres import fields

    with table(
        "Period",
        tags=fields.ArrayField(models.CharField(max_length=20), default=list),
        grid=fields.ArrayField(
            fields.ArrayField(models.IntegerField(null=True)), null=True
        ),
        days=fields.ArrayField(models.DateField(), default=list),
        numbers=fields.IntegerRangeField(null=True),
        amounts=fields.DecimalRangeField(null=True),
        dates=fields.DateRangeField(null=True),
        times=fields.DateTimeRangeField(null=True),
    ) as model:
        yield model


UTC = datetime.UTC
DAY = datetime.date(2026, 2, 28)


def before():
    from django.db.backends.postgresql.psycopg_any import (
        DateRange,
        DateTimeTZRange,
        NumericRange,
    )

    return {
        "tags": ["a", 'quoted "b", {c}', "", "ß 😀"],
        "grid": [[1, None], [3, 4]],
        "days": [DAY],
        "numbers": NumericRange(3, None),
        "amounts": NumericRange(empty=True),
        "dates": DateRange(DAY, DAY + datetime.timedelta(days=3), "[)"),
        "times": DateTimeTZRange(
            datetime.datetime(2026, 2, 28, 23, 59, 59, 999999, tzinfo=UTC), None, "()"
        ),
    }


AFTER = {
    "tags": [],
    "grid": None,
    "days": [],
    "numbers": None,
    "amounts": None,
    "dates": None,
    "times": None,
}


def values(model):
    return list(model.objects.order_by("pk").values())


@of_postgres
@pytest.mark.row("R05")
class TestArraysAndRanges:
    def test_changed(self, assistant, period):
        row = period.objects.create(**before())
        old = values(period)
        assistant.do(lambda: period.objects.filter(pk=row.pk).update(**AFTER))

        assert assistant.undo() == []

        assert values(period) == old

    def test_deleted(self, assistant, period):
        period.objects.create(**before())
        period.objects.create(**AFTER)
        old = values(period)
        assistant.do(lambda: period.objects.all().delete())

        assert assistant.undo() == []

        assert values(period) == old

    def test_made(self, assistant, period):
        assistant.do(lambda: period.objects.create(**before()))

        assert assistant.undo() == []

        assert not period.objects.exists()

    def test_changed_by_a_person_since(self, assistant, period):
        row = period.objects.create(**before())
        assistant.do(lambda: period.objects.filter(pk=row.pk).update(**AFTER))
        period.objects.update(tags=["mine"])

        found = {one.name: one.outcome for one in assistant.plan().rows[0].fields}

        assert found.pop("tags") == Outcome.CONFLICT
        assert set(found.values()) == {Outcome.RESTORE}


@pytest.fixture
def square():
    generated = models.GeneratedField(
        expression=F("side") * F("side"),
        output_field=models.IntegerField(),
        db_persist=True,
    )
    with table("Square", side=models.IntegerField(), area=generated) as model:
        yield model


@pytest.mark.row("R05")
class TestGenerated:
    """The database computes it anew: nobody writes it, and it is no conflict."""

    def test_changed(self, assistant, square):
        one = square.objects.create(side=3)
        assistant.do(lambda: square.objects.filter(pk=one.pk).update(side=4))

        (row,) = assistant.plan().rows
        assert [found.name for found in row.fields] == ["side"]
        assert assistant.undo() == []

        assert values(square) == [{"id": one.pk, "side": 3, "area": 9}]

    def test_deleted(self, assistant, square):
        one = square.objects.create(side=3)
        pk = one.pk
        assistant.do(one.delete)

        assert assistant.undo() == []

        assert values(square) == [{"id": pk, "side": 3, "area": 9}]

    def test_made(self, assistant, square):
        assistant.do(lambda: square.objects.create(side=3))

        assert assistant.undo() == []

        assert not square.objects.exists()

    def test_made_and_changed_since(self, assistant, square):
        assistant.do(lambda: square.objects.create(side=3))
        square.objects.update(side=5)

        assert assistant.plan().rows[0].outcome == Outcome.CONFLICT
