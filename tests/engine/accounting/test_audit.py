"""What runs leave in the audit log."""

import pytest
from django.apps import apps
from django.contrib.auth import get_user_model
from django.contrib.auth.signals import user_logged_out
from django.contrib.sessions.backends.db import SessionStore
from django.test import RequestFactory

from ai_assistant import RunContext
from ai_assistant.engine.accounting.audit import _of_call
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.exceptions import ToolFailed
from ai_assistant.models.audit import AuditEntry
from ai_assistant.models.call import ToolCall
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.models.run import Run
from ai_assistant.safety.audit import verify
from ai_assistant.safety.identity.session import (
    SessionStamp,
    session_digest,
    session_stamp,
)
from ai_assistant.testing import call, reply
from ai_assistant.types import ToolResult
from tests.engine.conftest import resume
from tests.engine.people import given
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def actions():
    """Return what is in the log, which must be whole."""
    assert verify().findings == ()
    return list(AuditEntry.objects.order_by("id").values_list("action", flat=True))


def entry(action):
    return AuditEntry.objects.get(action=action)


@pytest.fixture
def asks(options):
    options(POLICY={"write_effect": "ask"})


@pytest.fixture(autouse=True)
def starts_too(options):
    """Let each run begin with an entry."""
    options(AUDIT={"STARTS": True})


@pytest.fixture
def waiting(asks, play, script):
    script.add(reply("", call("write_effect", {"key": "a"})), "Done.")
    return play()


@pytest.mark.row("X03")
class TestCalls:
    def test_write(self, play, script, user):
        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")

        run = play()

        assert actions() == ["run.started", "call.complete"]
        written = entry("call.complete")
        assert (written.user, written.user_name) == (user, "ada")
        assert (written.tool, written.run_id) == ("write_effect", run.pk)
        assert written.call_id == run.calls.get().pk
        assert written.details["arguments"] == {"key": "a"}
        assert len(written.details["result_sha256"]) == 64

    def test_calls_names_the_changed_objects(self, play, script):
        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")

        play()

        key = Effect.objects.get().pk
        details = entry("call.complete").details
        assert details["objects"] == [f"create testapp.effect:{key}"]
        assert details["objects_total"] == 1

    def test_calls_reads_only_where_wanted(self, play, script, options):
        script.add(reply("", call("echo", {"text": "a"})), "Yes.")
        script.add(reply("", call("echo", {"text": "a"})), "Yes.")

        play()
        assert actions() == ["run.started"]
        options(AUDIT={"READS": True})
        play()

        assert actions()[-1] == "call.complete"

    def test_failed_write(self, play, script, offer):
        def fails():
            Effect.objects.create(key="x", run=Run.objects.get().pk)
            raise ToolFailed("No.")

        offer(fails, effect="write", policy="allow")
        script.add(reply("", call("fails")), "Hm.")

        play()

        assert actions() == ["run.started", "call.failed"]
        assert entry("call.failed").details["error"] == "failed"
        assert Effect.objects.count() == 0

    def test_refused_read(self, play, script, offer, staff):
        offer(lambda: "x", name="secret", permission="auth.view_group")
        script.add(reply("", call("secret")), "Hm.")

        play(user_id=staff.pk)

        assert actions() == ["run.started", "call.refused"]
        assert entry("call.refused").details["reason"] == "permission"

    def test_denied_by_the_site(self, play, script, options):
        options(POLICY={"write_effect": "deny"})
        script.add(reply("", call("write_effect", {"key": "a"})), "Hm.")

        play()

        assert entry("call.refused").details["reason"] == "policy"

    def test_external(self, play, script, tmp_path, monkeypatch):
        monkeypatch.setenv("TESTAPP_EXTERNAL_FILE", str(tmp_path / "letters"))
        script.add(reply("", call("write_external", {"key": "a"})), "Done.")

        play()

        assert "call.complete" in actions()


class TestNested:
    def parent(self, context: RunContext, *, fails: bool = False) -> dict:
        """Write by another tool."""
        context.call_tool("write_effect", key="child")
        if fails:
            raise ToolFailed("No.")
        return {}

    def test_child_has_an_entry(self, play, script, offer):
        def parent(context: RunContext) -> dict:
            return self.parent(context)

        offer(parent, effect="write", policy="allow")
        script.add(reply("", call("parent")), "Done.")

        play()

        assert actions() == ["run.started", "call.complete", "call.complete"]
        tools = AuditEntry.objects.filter(action="call.complete")
        assert {one.tool for one in tools} == {"parent", "write_effect"}

    def test_what_was_taken_back_with_the_parent_is_not_told_as_done(
        self, play, script, offer
    ):
        def parent(context: RunContext) -> dict:
            return self.parent(context, fails=True)

        offer(parent, effect="write", policy="allow")
        script.add(reply("", call("parent")), "Hm.")

        play()

        assert Effect.objects.count() == 0
        assert actions() == ["run.started", "call.failed"]

    def test_nested_in_a_piece_of_a_background_tool(self, play, script, offer):
        def parent(context: RunContext) -> dict:
            with context.transaction():
                return self.parent(context)

        offer(parent, effect="write", background=True, policy="allow")
        script.add(reply("", call("parent")), "Done.")
        run = play()

        perform(run.calls.get().pk)
        resume(run)

        assert Effect.objects.get().key == "child"
        assert actions() == ["run.started", "call.complete", "call.complete"]


@pytest.mark.row("X03")
class TestApprovals:
    def test_approved(self, waiting):
        answer(given(waiting, "approve"))
        resume(waiting)

        assert actions() == [
            "run.started",
            "approval.asked",
            "approval.approved",
            "call.complete",
        ]
        asked, done = entry("approval.asked"), entry("call.complete")
        assert asked.details["arguments"] == {"key": "a"}
        assert asked.details["approval"] == done.details["approval"]
        assert done.details["approval"] == str(Interrupt.objects.get().pk)

    def test_denied_with_its_reason(self, waiting):
        answer(given(waiting, "deny", text="Not today"))

        assert actions() == ["run.started", "approval.asked", "approval.denied"]
        assert entry("approval.denied").details["said"] == "Not today"

    def test_expired(self, waiting):
        waiting.interrupts.update(expires_at="2020-01-01T00:00Z")
        sweep_once()

        assert actions() == ["run.started", "approval.asked", "approval.expired"]

    def test_cancelled_with_the_run(self, waiting):
        stop(waiting.pk)

        assert actions()[2:] == ["approval.cancelled", "run.cancelled"]

    def test_second_answer_leaves_nothing(self, waiting):
        said = given(waiting, "approve")
        answer(said)
        with pytest.raises(Exception, match="already answered"):
            answer(said)

        assert actions()[2:] == ["approval.approved"]


@pytest.mark.row("X03")
class TestRuns:
    def test_limited(self, play, script, options):
        options(LIMITS={"STEPS": 1})
        script.add(reply("", call("echo", {"text": "a"})), "Never.")

        play()

        assert entry("run.limited").details["code"] == "limit_steps"

    def test_revoked_meanwhile(self, waiting, user):
        answer(given(waiting, "approve"))
        user.is_active = False
        user.save()

        resume(waiting)

        assert entry("run.cancelled").details["code"] == "deactivated"

    def test_signed_out(self, submission, user):
        accept(submission(stamp=SessionStamp(session_digest=session_digest("abc"))))
        request = RequestFactory().post("/")
        request.session = type("Session", (), {"session_key": "abc"})()

        user_logged_out.send(type(user), request=request, user=user)

        assert actions() == ["run.started", "run.cancelled", "session.signed_out"]
        run = str(Run.objects.get().pk)
        assert entry("session.signed_out").details["runs"] == [run]

    def test_runs_address_only_where_wanted(self, submission, options, rf, user):
        request = rf.get("/", REMOTE_ADDR="192.0.2.1")
        request.user, request.session = user, SessionStore()
        accept(submission(stamp=session_stamp(request)))
        options(AUDIT={"IP": True})
        accept(submission(stamp=session_stamp(request)))

        ips = AuditEntry.objects.order_by("id").values_list("ip", flat=True)
        assert list(ips) == ["", "192.0.2.1"]

    def test_runs_of_staff_without_other_permissions(self, play, script, staff):
        script.add("Hello.")

        play(user_id=staff.pk)

        assert entry("run.started").user == staff


class TestStarts:
    def test_only_where_wanted(self, play, script, options):
        options(AUDIT={"STARTS": False})
        script.add("Hello.")

        play()

        assert actions() == []


class TestSecretNames:
    """Where an argument is JSON, what stands under such a key is not kept."""

    def test_secret_names_are_masked_in_arguments(self):
        values = {"data": {"password": "canary", "host": "a"}}
        made = ToolCall(name="change_object", arguments={"values": values})

        told = _of_call(made, ToolResult(ok=False), "")

        masked = {"data": {"password": "•••", "host": "a"}}
        assert told["arguments"] == {"values": masked}


def test_person_behind_a_hijacked_session(play, script, user, submission, monkeypatch):
    boss = get_user_model().objects.create_superuser("boss")
    request = RequestFactory().get("/")
    request.session, request.user = SessionStore(), user
    request.session["hijack_history"] = [str(boss.pk)]
    request.session.save()
    is_installed = apps.is_installed
    monkeypatch.setattr(
        apps, "is_installed", lambda name: name == "hijack" or is_installed(name)
    )
    script.add(reply("", call("write_effect", {"key": "a"})), "Done.")

    play(stamp=session_stamp(request))

    for action in ("run.started", "call.complete"):
        assert entry(action).details["behind"] == [f"boss ({boss.pk})"]
