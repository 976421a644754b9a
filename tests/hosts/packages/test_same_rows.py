"""
For each case of the site: the same rows, the same history, one card, no page drawn.

A case that is asked about twice says why.
"""

import importlib
import os
from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.utils.translation import override

from ai_assistant import ModelRetry, RunContext, ToolFailed
from ai_assistant.changes.capture.recorder import recording
from ai_assistant.changes.values import Changes, ObjectChange
from ai_assistant.changes.verify.compare import unexpected_changes
from ai_assistant.changes.verify.trial import completed
from ai_assistant.context.block import to_plain_json
from ai_assistant.engine.calls.trial import unkept_caches
from ai_assistant.engine.lifecycle.scope import RunScope
from ai_assistant.models import Run
from ai_assistant.registry import registry
from ai_assistant.tools.arguments import validate_arguments
from ai_assistant.types import ToolResult
from tests.hosts.packages.cases import Case
from tests.hosts.packages.conftest import CARDS
from tests.hosts.packages.context import context_on
from tests.hosts.packages.person import Person
from tests.hosts.packages.rows import State, differences, reset_numbers, state
from tests.tools.data.drawn import drawn_templates

NAME = os.environ.get("HOSTS_PACKAGE", "")
if not NAME:
    pytest.skip("run by make hosts", allow_module_level=True)

cases = importlib.import_module(f"tests.hosts.packages.sites.{NAME}.cases")


@pytest.fixture
def boss(db):
    return get_user_model().objects.create_superuser("ada", password="hunter2hunter2")


@pytest.fixture(autouse=True)
def _left_as_it_was():
    """A page leaves its language to what comes after it in this thread."""
    with override("en"):
        yield


class _Undone(Exception):
    pass


def tried(act) -> tuple[State, str]:
    """Return the rows after `act`, and its fault; all is as before then."""
    fault, after = "", {}
    cache.clear()  # what is rolled back stays in it
    with suppress(_Undone), transaction.atomic():
        reset_numbers()
        fault = act()
        after = state()
        raise _Undone
    return after, fault


def by_tool(case: Case, context: RunContext, cards: list[Changes]) -> str:
    """Do a case by its tool, as it is shown first; `cards` are those shown."""
    tool = registry.tool(case.tool)
    given = validate_arguments(tool, {"model": case.model, **case.arguments})
    try:
        card = shown_card(tool, context, given)
        if isinstance(card, ToolResult):
            return str(card.error)
        cards.append(card)
        reset_numbers()  # which the trial has used
        with recording() as recorder:
            result = tool.handler(context, **given)
    except (ModelRetry, ToolFailed) as error:
        return f"{type(error).__name__}: {error}"
    if unexpected_changes(card, recorder):
        cards.append(completed(card, recorder))
    return "" if result.ok else str(result.error)


def only_card(case: Case, context: RunContext) -> Changes:
    """Return the card of a case that is done by its tool; all is as before then."""
    cards: list[Changes] = []
    _rows, fault = tried(lambda: by_tool(case, context, cards))
    assert fault == ""
    (card,) = cards
    return card


def shown_card(tool: Any, context: RunContext, given: Any) -> Changes | ToolResult:
    """Return the first card, as `engine.calls.preview` makes it of both parts."""
    card = tool.approval.preview(context, **given)
    if not isinstance(card, Changes) or not card.needs_trial:
        return card
    with transaction.atomic(), unkept_caches():
        with recording() as recorder:
            result = tool.handler(context, **given)
        transaction.set_rollback(True)
    if not result.ok:
        return result
    is_action = card.objects[0].kind == "action"
    is_whole = not is_action and not unexpected_changes(card, recorder)
    return card if is_whole else completed(card, recorder)


@pytest.mark.parametrize("name", list(cases.CASES))
def test_tool_makes_the_same_rows_as_the_page(name, boss, record_property):
    cases.make()
    case = cases.CASES[name]
    client = Client(headers={"Accept-Language": case.language})
    client.force_login(boss)
    getattr(cases, "sign_in", lambda *_args: None)(client, boss)
    person = Person(client, case)
    context = context_on(person.address, client, boss, case.language)
    before = state()

    real, refusal = tried(person.act)
    cards: list[Changes] = []
    with Run.objects.get(pk=context.run_id).as_sent(), drawn_templates() as drawn:
        own, fault = tried(lambda: by_tool(case, context, cards))
    record_property(CARDS, len(cards))

    assert bool(refusal) == case.refused, f"the page: {refusal}"
    assert bool(fault) == case.refused, f"the tool: {fault}"
    assert case.refused or real != before, "the page has changed nothing"
    assert differences(own, real, getattr(cases, "STAYS_NULL", ())) == []
    if not case.refused:
        assert cards[0].objects, "the card is empty"
        assert [one for one in cards[0].objects if says_nothing(one)] == []
        assert cards[0].title.endswith(case.titled)
    assert len(cards) == 1 + bool(case.asked_twice) - case.refused, cards
    # An action that asks something first draws the page for it itself, and is refused.
    asks = case.tool == "run_admin_action" and case.refused
    assert asks or drawn == []


CHANGES = [name for name, case in cases.CASES.items() if case.tool == "change_object"]


@pytest.mark.parametrize("name", CHANGES)
def test_page_and_object_are_known(name, boss):
    cases.make()
    case = cases.CASES[name]
    client = Client()
    client.force_login(boss)
    getattr(cases, "sign_in", lambda *_args: None)(client, boss)
    address = Person(client, case).address
    context = context_on(address, client, boss)
    given = {"model": case.model, "id": case.arguments["id"]}

    scope = RunScope(Run.objects.get(pk=context.run_id), boss)
    items = {item.id: item.value for item in scope.items}
    found = registry.tool("get_object").handler(context, **given)

    names = set(case.arguments["values"])
    assert names - set(found["fields"]) == set()
    inlines = set(case.arguments.get("inlines") or ())
    assert inlines <= {inline["name"] for inline in found.get("inlines", ())}
    assert str(items["object"]["id"]) == case.arguments["id"]
    assert inlines <= set(items["object"].get("inlines", ()))
    told = items["object"]["fields"]
    assert {name: told.get(name) for name in names} == {
        name: to_plain_json(found["fields"][name]) for name in names
    }


@pytest.mark.parametrize("address", getattr(cases, "OTHER_PAGES", ()))
def test_other_admin_has_the_panel(address, boss, settings):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "ENABLED": True}
    client = Client()
    client.force_login(boss)

    page = client.get(address)

    assert page.status_code == 200
    assert b'id="aia"' in page.content


def says_nothing(change: ObjectChange) -> bool:
    """Return whether a card names an object, or a field, of which nothing changes."""
    same = [one for one in change.fields if not (one.before or one.after)]
    return bool(same) or (change.kind == "change" and not change.fields)
