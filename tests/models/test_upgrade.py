"""A process of an earlier release works on while the tables are those of this one."""

import uuid
from contextlib import contextmanager
from datetime import UTC, date, datetime
from itertools import pairwise

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models
from django.db.migrations import AddField, Migration
from django.db.migrations.loader import MigrationLoader

LABEL = "ai_assistant"
LOADER = MigrationLoader(None)
NAMES = sorted(name for app, name in LOADER.graph.nodes if app == LABEL)
STATES = {name: LOADER.project_state((LABEL, name)) for name in NAMES}
NOW = STATES[NAMES[-1]]
VALUES = {
    "CharField": "x",
    "TextField": "x",
    "BinaryField": "x",  # ours, of compressed texts
    "UUIDField": uuid.UUID(int=7),
    "DateField": date(2026, 1, 1),
    "DateTimeField": datetime(2026, 1, 1, tzinfo=UTC),
    "JSONField": [],
    "DecimalField": 0,
    "FloatField": 0,
    "PositiveIntegerField": 1,
    "PositiveBigIntegerField": 1,
    "PositiveSmallIntegerField": 1,
}


def insert(model):
    """Insert a row as a process does that knows `model`, and all that it refers to."""
    values = {
        field.name: _value(field)
        for field in model._meta.concrete_fields
        if not (field.has_default() or field.null or field.blank or field.primary_key)
    }
    key = model._meta.pk
    if not key.has_default() and not isinstance(key, models.AutoField):
        values[key.name] = _value(key)
    row = model(**values)
    row.save_base(force_insert=True)  # a model may refuse `save`
    return row


def _value(field):
    if field.is_relation:
        found = field.related_model._default_manager.first()
        return found or insert(field.related_model)
    return VALUES[field.get_internal_type()]


def _fills_itself(field):
    return field.null or field.has_db_default() or isinstance(field, models.AutoField)


def demanded_columns(states):
    """Yield each column that a table has got later, and that an INSERT has to name."""
    for earlier, state in pairwise(states):
        for key in earlier.models.keys() & state.models.keys():
            if key[0] == LABEL:
                before, now = earlier.models[key].fields, state.models[key].fields
                for column in now.keys() - before.keys():
                    last = states[-1].models[key].fields.get(column)
                    if last is not None and not _fills_itself(last):
                        yield f"{key[1]}.{column}"


@pytest.mark.django_db
class TestEarlierRelease:
    @pytest.mark.parametrize("name", STATES)
    def test_earlier_release_inserts_rows_into_each_of_its_tables(self, name):
        earlier = STATES[name].apps

        for model in earlier.get_app_config(LABEL).get_models():
            insert(model)

        run = apps.get_model(LABEL, "Run").objects.first()
        assert (run.kind, run.context, run.look_only) == ("message", {}, False)


def test_column_that_was_added_may_be_left_out():
    """Put `db_default` on it: the release before inserts rows without it."""
    assert list(demanded_columns([*STATES.values()])) == []


@contextmanager
def migrated(migration):
    """The tables as a migration after the last one makes them."""
    try:
        with connection.schema_editor() as editor:
            migration.apply(NOW.clone(), editor)
        yield
    finally:
        with connection.schema_editor() as editor:
            migration.unapply(NOW.clone(), editor)


@pytest.mark.django_db(transaction=True)
class TestNextRelease:
    """What is asked of the migrations is seen at one that there could be."""

    @pytest.fixture
    def add(self):
        def migration(**options):
            column = models.CharField(max_length=9, **options)
            made = Migration("9999_next", LABEL)
            made.operations = [AddField("run", "next", column)]
            return made

        return migration

    @pytest.mark.parametrize("options", [{"db_default": "x"}, {"null": True}], ids=str)
    def test_column_that_may_be_left_out(self, add, options):
        migration = add(**options)

        assert list(demanded_columns([NOW, migration.mutate_state(NOW)])) == []
        with migrated(migration):
            insert(NOW.apps.get_model(LABEL, "Run"))

    def test_column_that_is_demanded(self, add):
        migration = add(default="x")

        states = [NOW, migration.mutate_state(NOW)]
        assert list(demanded_columns(states)) == ["run.next"]
        with migrated(migration), pytest.raises(IntegrityError):
            insert(NOW.apps.get_model(LABEL, "Run"))
