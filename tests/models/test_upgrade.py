"""A process of an earlier release works on while the tables are those of this one."""

import uuid
from datetime import UTC, datetime

import pytest
from django.apps import apps
from django.db import models
from django.db.migrations.loader import MigrationLoader

LABEL = "ai_assistant"
LOADER = MigrationLoader(None)
NAMES = sorted(name for app, name in LOADER.graph.nodes if app == LABEL)
NOW = LOADER.project_state((LABEL, NAMES[-1]))
STATES = {name: LOADER.project_state((LABEL, name)) for name in NAMES[:-1]}
VALUES = {
    "CharField": "x",
    "TextField": "x",
    "UUIDField": uuid.UUID(int=7),
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
        if not (field.has_default() or field.null or field.primary_key)
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


def added_columns():
    """Yield each column that a table has got after its first migration."""
    earlier = STATES[NAMES[0]]
    for name in NAMES[1:]:
        state = STATES.get(name, NOW)
        for key in earlier.models.keys() & state.models.keys():
            if key[0] == LABEL:
                before = earlier.models[key].fields
                for column in state.models[key].fields.keys() - before.keys():
                    yield name, key, column
        earlier = state


@pytest.mark.django_db
class TestEarlierRelease:
    @pytest.mark.parametrize("name", STATES)
    def test_inserts_rows_into_each_of_its_tables(self, name):
        earlier = STATES[name].apps

        for model in earlier.get_app_config(LABEL).get_models():
            insert(model)

        conversation = apps.get_model(LABEL, "Conversation").objects.get()
        run = apps.get_model(LABEL, "Run").objects.get(conversation=conversation)
        assert (run.steering, run.context, run.look_only) == ([], {}, False)


def test_column_that_was_added_may_be_left_out():
    """Put `db_default` on it: the release before inserts rows without it."""
    found = list(added_columns())
    demanded = [
        f"{name}: {key[1]}.{column}"
        for name, key, column in found
        for field in [NOW.models[key].fields.get(column)]
        if field is not None and not _fills_itself(field)
    ]

    assert ("0006_steering", (LABEL, "run"), "steering") in found
    assert demanded == []
