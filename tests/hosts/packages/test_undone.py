"""What a tool has changed on the site is undone, with the rows of its packages; or said."""

import importlib
import os
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import transaction
from django.test import Client

from ai_assistant import RunContext
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store_as
from ai_assistant.changes.undo.values import UndoRequest, UndoTarget
from ai_assistant.changes.verify.auto_fields import is_side
from ai_assistant.engine.undo import Undone, read_plan, undo
from ai_assistant.models.change import ChangeSet
from ai_assistant.registry import registry
from ai_assistant.tools.arguments import validate_arguments
from tests.hosts.packages.cases import Case
from tests.hosts.packages.context import context_on
from tests.hosts.packages.person import Person
from tests.hosts.packages.rows import State, state

NAME = os.environ.get("HOSTS_PACKAGE", "")
if not NAME:
    pytest.skip("run by make hosts", allow_module_level=True)

cases = importlib.import_module(f"tests.hosts.packages.sites.{NAME}.cases")
HISTORIES = ("reversion", "simple_history", "auditlog", "easyaudit")


@pytest.fixture
def boss(db):
    return get_user_model().objects.create_superuser("ada", password="hunter2hunter2")


def rows() -> State:
    """Return all rows, without what only tells of changes; a link has no own key."""
    found = state()
    for model in apps.get_models(include_auto_created=True):
        label = model._meta.label
        is_history = is_side(model) or model._meta.app_label in (*HISTORIES, "admin")
        if label in found and is_history:
            del found[label]
        elif label in found and model._meta.auto_created:
            found[label] = [row[1:] for row in found[label]]
    return found


def histories() -> int:
    """Return how many rows tell of changes."""
    models = apps.get_models()
    return sum(model._base_manager.count() for model in models if is_side(model))


def by_tool(case: Case, context: RunContext) -> str:
    """Do a case by its tool; return why it was not done."""
    tool = registry.tool(case.tool)
    given = validate_arguments(tool, {"model": case.model, **case.arguments})
    result = tool.handler(context, **given)
    return "" if result.ok else str(result.error)


def undone(user: Any, change: ChangeSet) -> Undone:
    target = UndoTarget(kind="change", id=change.pk)
    digest = read_plan(user.pk, target).digest
    return undo(UndoRequest(user_id=user.pk, target=target, digest=digest))


def said(user: Any, change: ChangeSet) -> list[Any]:
    """Return what the plan says of rows that stay as they are, or in part."""
    plan = read_plan(user.pk, UndoTarget(kind="change", id=change.pk))
    return [
        row.reason or row.fields
        for row in plan.rows
        if row.outcome != "restore"
        or any(one.outcome == "blocked" for one in row.fields)
    ]


@pytest.mark.parametrize(
    "name", [n for n, one in cases.CASES.items() if not one.refused]
)
def test_undo_and_redo_leave_the_rows_of_the_package_whole(name, boss):
    cases.make()
    case = cases.CASES[name]
    client = Client()
    client.force_login(boss)
    getattr(cases, "sign_in", lambda *_args: None)(client, boss)
    context = context_on(Person(client, case).address, client, boss)
    before = rows()
    with transaction.atomic(), recording() as recorder:
        assert by_tool(case, context) == ""
    change = store_as(ChangeSet(user=boss), recorder)
    assert change is not None
    left, told = rows(), histories()
    plan = read_plan(boss.pk, UndoTarget(kind="change", id=change.pk))
    reasons = said(boss, change)

    if plan.gaps or reasons:
        assert not (plan.gaps and plan.does_something), "half of it would be undone"
        pytest.skip(f"said beforehand: {plan.gaps} {reasons}")
    done = undone(boss, change)

    assert (done.reason, done.differing) == ("", [])
    assert rows() == before
    # django-reversion has no versions of what is deleted.
    if NAME in HISTORIES and told and case.tool != "create_object":
        assert histories() > told
    undo_change = ChangeSet.objects.get(pk=done.change_id)
    if reasons := said(boss, undo_change):
        pytest.skip(f"of its redo, said beforehand: {reasons}")
    undone(boss, undo_change)
    assert rows() == left
