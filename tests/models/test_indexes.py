"""Each index has its use: none is the beginning of another, no foreign key is without."""

import uuid

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ai_assistant.engine.execution import sweep
from ai_assistant.models import ToolCall, UsageLedger
from ai_assistant.safety.budgets.ledger import settle_left_behind

pytestmark = pytest.mark.django_db

MODELS = [*apps.get_app_config("ai_assistant").get_models()]
KINDS = ("index", "unique", "primary_key")
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda one: one.__name__)


def indexes(model):
    """Return the columns of each index, by its name."""
    with connection.cursor() as cursor:
        table = model._meta.db_table
        found = connection.introspection.get_constraints(cursor, table)
    return {
        name: tuple(one["columns"])
        for name, one in found.items()
        if any(one[kind] for kind in KINDS)
    }


def of_some_rows(model):
    """Return the names of the indexes that leave rows out."""
    declared = (*model._meta.indexes, *model._meta.constraints)
    return {one.name for one in declared if getattr(one, "condition", None)}


@each_model
def test_no_index_is_the_beginning_of_another(model):
    partial = of_some_rows(model)
    whole = {name: one for name, one in indexes(model).items() if name not in partial}
    columns = set(whole.values())

    begun = [
        (short, long)
        for short in columns
        for long in columns
        if short != long and long[: len(short)] == short
    ]
    assert begun == []


@each_model
def test_each_foreign_key_leads_an_index(model):
    leading = {columns[0] for columns in indexes(model).values()}

    keys = {field.column for field in model._meta.local_fields if field.is_relation}
    assert keys <= leading


def test_calls_of_a_step_are_not_looked_for_among_all_without_a_parent():
    found = ToolCall.objects.filter(parent=None, step__in=[1, 2, 3])
    of_parent = ToolCall.objects.filter(parent_id=uuid.uuid4())

    assert "(step_id=?)" in found.explain()
    assert "aia_call_parent" in of_parent.explain()


def test_sweep_finds_background_calls_by_their_index():
    plan = sweep._at_work().explain()

    assert "aia_call_background" in plan
    assert "SCAN" not in plan


def test_sweep_finds_reservations_by_their_index():
    with CaptureQueriesContext(connection) as queries:
        settle_left_behind()

    (asked,) = (query["sql"] for query in queries)
    assert "ORDER BY" not in asked
    assert UsageLedger._meta.db_table in asked
