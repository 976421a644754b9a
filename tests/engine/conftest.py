"""
A database that other threads see, and runs that are executed in this process.

Every test ends with the oracle's look at all of its runs.
"""

import asyncio
import uuid
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection

from ai_assistant import conf
from ai_assistant.engine.execution.runner import execute
from ai_assistant.engine.execution.sweep import claim_runs
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.intake.values import SentPage, Submission
from ai_assistant.engine.lifecycle.writer import Flusher
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.testing import ScriptedProvider
from ai_assistant.types import ToolDefinition
from tests.engine.oracle import check_all_runs
from tests.tables import clear_tables


@pytest.fixture
def _django_db_helper(django_db_setup, django_db_blocker):
    """
    Commit for real, and clear the tables after the test.

    In place of pytest-django's own for transactional tests, which makes all
    permissions anew each time and takes half a second for it.
    """
    with django_db_blocker.unblock():
        assert "test" in Path(connection.settings_dict["NAME"]).name
        yield
        clear_tables()


@pytest.fixture(autouse=True)
def _calls_are_quick(monkeypatch):
    """No call is shown as working only because the machine is busy."""
    monkeypatch.setattr("ai_assistant.engine.calls.schedule.SHOWN_AFTER_S", 60.0)


@pytest.fixture(autouse=True)
def oracle(request):
    """Look at all runs after the test."""
    yield
    if request.node.get_closest_marker("django_db"):
        check_all_runs()


class HeldBack(list):
    """A pool that begins nothing; a test takes the ids of calls and performs them."""

    def __init__(self, queued):
        super().__init__()
        self.queued = queued

    def submit(self, _work, call_id):
        self.append(call_id)

    def pop(self):
        call_id = super().pop()
        self.queued.discard(call_id)
        return call_id


@pytest.fixture(autouse=True)
def given_out(monkeypatch):
    """The ids of the background calls that were given to the pool of this process."""
    pool = HeldBack(queued=set())
    # By its name: the package has a function that is called like the module.
    send = import_module("ai_assistant.engine.calls.background.send")
    monkeypatch.setattr(send, "_pool", lambda: pool)
    monkeypatch.setattr(send, "_queued", pool.queued)
    return pool


@pytest.fixture
def script():
    """The model of the test: `script.add(reply(...))`."""
    return ScriptedProvider()


@pytest.fixture(autouse=True)
def options(settings, script, monkeypatch):
    """Set options of AI_ASSISTANT: `options(LIMITS={"STEPS": 3})`."""

    def change(**changed):
        settings.AI_ASSISTANT = conf.merged(settings.AI_ASSISTANT, changed)

    profile = {
        "PROVIDER": "ai_assistant.testing.ScriptedProvider",
        "MODEL": "scripted",
        "SCRIPT": script,
    }
    policy = {"write_effect": "allow", "write_external": "allow"}
    monkeypatch.setattr(conf, "MODEL_RETRY_S", 0.001)
    change(
        PROFILES={"default": profile},
        POLICY={**policy, "background_steps": "allow"},
        EXECUTOR="web",
        LEASE_S=10.0,
    )
    return change


@pytest.fixture
def function_model(options):
    """Let an async function play the model."""

    def use(function):
        path = "ai_assistant.testing.FunctionProvider"
        profile = {"PROVIDER": path, "MODEL": "played", "FUNCTION": function}
        options(PROFILES={"default": profile})

    return use


@pytest.fixture
def user():
    return get_user_model().objects.create_superuser("ada", password="first")


@pytest.fixture
def staff():
    """A user with the two permissions of the assistant and no other."""
    staff = get_user_model().objects.create_user("nora", is_staff=True)
    codes = ("view_assistant", "use_assistant")
    staff.user_permissions.set(Permission.objects.filter(codename__in=codes))
    return staff


@pytest.fixture
def offer():
    """Register tools for the test: `offer(function, effect="write")`."""
    before = dict(registry._registry)

    def add(handler, *, effect="read", **fields):
        name = fields.pop("name", handler.__name__)
        tool = ToolDefinition.of(
            name=name,
            handler=handler,
            effect=effect,
            description=handler.__doc__ or "",
            label=name.capitalize(),
            origin="tests",
            **fields,
        )
        registry._registry["tool", tool.name] = tool
        return tool

    yield add
    registry._registry = before


@pytest.fixture
def submission(user):
    """Return a message to be sent, each with a key and a conversation of its own."""

    def make(text="Hello", *, page_path="", page_title="", context=None, **fields):
        page = SentPage(path=page_path, title=page_title, context=context or {})
        fields.setdefault("user_id", user.pk)
        fields.setdefault("conversation_id", uuid.uuid4())
        fields.setdefault("key", uuid.uuid4().hex)
        return Submission(text=text, page=page, **fields)

    return make


@pytest.fixture
def play(submission):
    """Send a message and execute its run until it ends or waits; return the run."""

    def send(text="Hello", **fields):
        accepted = accept(submission(text, **fields), owner=this_process())
        return carry_on(accepted.hold)

    return send


def carry_on(hold):
    """Execute a run until it ends or waits; return it."""
    asyncio.run(execute(hold, Flusher()))
    return Run.objects.get(pk=hold.run_id)


def resume(run):
    """Execute a run that is queued, or whose owner is dead; return it."""
    (hold,) = [hold for hold in claim_runs(this_process(), 10) if hold.run_id == run.pk]
    return carry_on(hold)


def dead_owner():
    """Return an owner that this host can see to be gone."""
    *place, pid, _ = this_process().split("|")
    return "|".join([*place, pid, "1"])


def bury(run):
    """Make a run look as if its process had been killed; return it."""
    Run.objects.filter(pk=run.pk).update(owner=dead_owner())
    run.refresh_from_db()
    return run


def said(run):
    """Return what the assistant has said in a run, its messages parted by |."""
    messages = run.messages.filter(role="assistant").order_by("position")
    return "|".join(message.text for message in messages)


def statuses(run):
    """Return the statuses of the calls of a run, in order."""
    calls = run.calls.order_by("step__index", "position")
    return list(calls.values_list("status", flat=True))


def facts(run):
    """Return the log of a run in short: types, and names of our own facts."""
    rows = run.events.order_by("seq").values_list("type", "payload")
    return [payload["name"] if kind == "CUSTOM" else kind for kind, payload in rows]


def again(submission, **changed):
    """Return the same submission with other fields."""
    return replace(submission, **changed)
