"""What a tool has changed on the site is undone, with the rows of its packages; or said."""

import importlib
import os
from collections import Counter
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import transaction
from django.test import Client, RequestFactory

from ai_assistant import RunContext
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.capture.store import store_as
from ai_assistant.changes.undo.values import UndoPlan, UndoRequest, UndoTarget
from ai_assistant.changes.verify.auto_fields import is_side
from ai_assistant.engine.undo import Undone, read_plan, undo
from ai_assistant.exceptions import Refused
from ai_assistant.models import Run
from ai_assistant.models.change import ChangeSet
from ai_assistant.registry import registry
from ai_assistant.safety.identity.session import SessionStamp, session_stamp
from ai_assistant.tools.arguments import validate_arguments
from tests.hosts.packages.cases import Case
from tests.hosts.packages.context import context_on
from tests.hosts.packages.person import Person
from tests.hosts.packages.rows import State, state
from tests.hosts.packages.told import Told, happened

NAME = os.environ.get("HOSTS_PACKAGE", "")
if not NAME:
    pytest.skip("run by make hosts", allow_module_level=True)

cases = importlib.import_module(f"tests.hosts.packages.sites.{NAME}.cases")
HISTORIES = ("reversion", "simple_history", "auditlog", "easyaudit")
history = getattr(cases, "history", list)  # what a package has told of changes
pytestmark = pytest.mark.django_db(transaction=getattr(cases, "COMMITS", False))


@pytest.fixture
def boss():
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


def untold(told: list[Told], before: State, after: State) -> set[Told]:
    """
    Return what the package does not tell of a change since `told`, or tells amiss.

    Nothing, if it is no package that tells of changes.
    """
    if not hasattr(cases, "history"):
        return set()
    new = {*(Counter(history()) - Counter(told))}
    wanted = happened(before, after, "ada")
    if getattr(cases, "KEEPS_VERSIONS", False):
        # Of what is still there, and of all that belongs to it.
        kept = {one._replace(kind="") for one in wanted if one.kind != "delete"}
        return kept - new | {one for one in new if one.person != "ada"}
    return wanted ^ new


def by_tool(case: Case, context: RunContext) -> str:
    """Do a case by its tool; return why it was not done."""
    tool = registry.tool(case.tool)
    given = validate_arguments(tool, {"model": case.model, **case.arguments})
    result = tool.handler(context, **given)
    return "" if result.ok else str(result.error)


def stamp_of(client: Client, user: Any) -> SessionStamp:
    """Return the stamp of the session of a browser, as its requests have it."""
    request = RequestFactory().get("/")
    request.session, request.user = client.session, user
    return session_stamp(request)


def planned(user: Any, change: ChangeSet, stamp: SessionStamp) -> UndoPlan:
    return read_plan(user.pk, UndoTarget(kind="change", id=change.pk), stamp)


def undone(user: Any, change: ChangeSet, stamp: SessionStamp) -> Undone:
    digest = planned(user, change, stamp).digest
    target = UndoTarget(kind="change", id=change.pk)
    request = UndoRequest(user_id=user.pk, target=target, digest=digest, stamp=stamp)
    return undo(request)


def said(plan: UndoPlan) -> list[Any]:
    """Return what the plan says of rows that stay as they are, or in part."""
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
    left, told = rows(), history()
    stamp = stamp_of(client, boss)
    plan = planned(boss, change, stamp)
    reasons = said(plan)

    if plan.gaps or reasons:
        assert not (plan.gaps and plan.does_something), "half of it would be undone"
        assert not hasattr(cases, "history"), reasons  # nothing would be compared
        pytest.skip(f"said beforehand: {plan.gaps} {reasons}")
    done = undone(boss, change, stamp)

    assert (done.reason, done.differing) == ("", [])
    assert rows() == before
    assert untold(told, left, before) == set()
    undo_change = ChangeSet.objects.get(pk=done.change_id)
    if reasons := said(planned(boss, undo_change, stamp)):
        pytest.skip(f"of its redo, said beforehand: {reasons}")
    told = history()
    undone(boss, undo_change, stamp)
    assert rows() == left
    assert untold(told, before, left) == set()


@pytest.mark.skipif(
    not getattr(cases, "SECOND_FACTOR", False), reason="its admin asks for none"
)
@pytest.mark.parametrize("name", ["add", "change a row", "delete"])
def test_no_undo_without_the_second_factor_of_the_run(name, boss):
    cases.make()
    client, other = Client(), Client()
    for one in (client, other):
        one.force_login(boss)
    cases.sign_in(client, boss)
    case = cases.CASES[name]
    context = context_on(Person(client, case).address, client, boss)
    with transaction.atomic(), recording() as recorder:
        assert by_tool(case, context) == ""
    Run.objects.update(state="succeeded")
    run = Run.objects.get(pk=context.run_id)
    change = store_as(ChangeSet(user=boss, run=run), recorder)
    left = rows()

    for stamp in (stamp_of(other, boss), SessionStamp()):
        plan = planned(boss, change, stamp)
        assert not plan.does_something
        assert {row.reason.partition(":")[0] for row in plan.rows} == {
            "Its admin asks for a second factor"
        }
        with pytest.raises(Refused, match="second factor"):
            undone(boss, change, stamp)
    assert rows() == left
    assert planned(boss, change, stamp_of(client, boss)).does_something
