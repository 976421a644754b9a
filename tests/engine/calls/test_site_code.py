"""Code of the site that may hang is asked outside of the transaction of a write."""

import threading
from importlib import import_module

import pytest
from django.contrib.auth.models import Permission
from django.db import OperationalError, connection

from ai_assistant import ContextModule, RunContext
from ai_assistant.engine.calls.attempt import context_for
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.models.call import ToolCall
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume, statuses
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/questionnaires/questionnaire/"


def save() -> None:
    """Write a row."""
    Effect.objects.create(key="a", run="0" * 32)


@pytest.fixture
def asked():
    """Whether a transaction was open, each time that the site was asked."""
    return []


@pytest.fixture
def room(asked):
    """A module whose rules are code."""

    class RoomModule(ContextModule):
        matches = ("admin:questionnaires_questionnaire_changelist",)

        def get_tools(self, context):
            asked.append(connection.in_atomic_block)
            return ["save"]

        def is_read_only(self, context):
            asked.append(connection.in_atomic_block)
            return False

    with registry.restored():
        registry.add_module(RoomModule())
        yield


class TestOutside:
    @pytest.mark.parametrize("external", [False, True])
    def test_outside_is_enabled_and_module(
        self, play, script, offer, asked, room, external
    ):
        def is_enabled(context):
            asked.append(connection.in_atomic_block)
            return True

        offer(
            save,
            effect="write",
            policy="allow",
            external=external,
            is_enabled=is_enabled,
        )
        script.add(reply("", call("save")), "Done.")

        run = play(page_path=LIST)

        assert statuses(run) == ["complete"]
        assert Effect.objects.count() == 1
        assert asked
        assert not any(asked)

    def test_pieces_of_a_background_tool(self, play, script, offer, asked, given_out):
        def is_enabled(context):
            asked.append(connection.in_atomic_block)
            return True

        def long(context: RunContext) -> None:
            with context.transaction():
                save()

        offer(
            long,
            effect="write",
            policy="allow",
            background=True,
            is_enabled=is_enabled,
        )
        script.add(reply("", call("long")), "Done.")

        play()
        perform(given_out.pop())

        assert Effect.objects.count() == 1
        assert asked
        assert not any(asked)

    def test_piece_waits_for_a_database_that_is_away(
        self, play, script, offer, given_out, monkeypatch
    ):
        def long(context: RunContext) -> None:
            for _piece in range(2):
                with context.transaction():
                    save()

        looks = []

        def looked(attempt):
            looks.append(attempt)
            if len(looks) == 2:
                raise OperationalError("the connection is closed")
            return context_for(attempt)

        offer(long, effect="write", policy="allow", background=True)
        script.add(reply("", call("long")), "Done.")
        play()
        at_work = import_module("ai_assistant.engine.calls.background.perform")
        monkeypatch.setattr(at_work, "context_for", looked)

        perform(given_out.pop())

        assert Effect.objects.count() == 2
        assert len(looks) == 4

    def test_upgrade_args(self, play, script, offer, asked):
        def upgrade(version, arguments):
            asked.append(connection.in_atomic_block)
            return {"key": "b"}

        def save_as(key: str) -> None:
            Effect.objects.create(key=key, run="0" * 32)

        offer(save, effect="write")
        script.add(reply("", call("save")), "Done.")
        run = play()
        approve(run)
        offer(save_as, name="save", effect="write", upgrade_args=upgrade)

        resume(run)

        assert asked == [False]
        assert run.calls.get().arguments == {"key": "b"}


def approve(run):
    one = run.interrupts.get(status="open", kind="approval")
    said = Answer(
        user_id=run.user_id, interrupt_id=one.pk, nonce=one.nonce, decision="approve"
    )
    answer(said)


def is_pending(context):
    """Tell whether a call is to be carried out, and not only offered."""
    return ToolCall.objects.filter(run_id=context.run_id, status="pending").exists()


class TestThatHangs:
    def test_async_read_is_given_up_too(self, play, script, offer):
        go_on = threading.Event()

        async def look() -> None:
            pass

        offer(
            look,
            is_enabled=lambda context: not is_pending(context) or go_on.wait(20),
            timeout_s=0.05,
        )
        script.add(reply("", call("look")), "Too slow.")

        run = play()
        go_on.set()

        assert run.calls.get().result["error_type"] == "timeout"

    @pytest.mark.parametrize("external", [False, True])
    def test_that_hangs_is_given_up_in_the_time_of_the_tool(
        self, play, script, offer, external
    ):
        go_on = threading.Event()

        def is_enabled(context):
            return not is_pending(context) or go_on.wait(60)

        offer(
            save,
            effect="write",
            policy="allow",
            external=external,
            is_enabled=is_enabled,
            timeout_s=0.05,
        )
        script.add(reply("", call("save")), "Too slow.")

        run = play()
        go_on.set()

        assert (run.state, statuses(run)) == ("succeeded", ["failed"])
        assert run.calls.get().result["error_type"] == "timeout"
        assert not Effect.objects.exists()

    def test_upgrade_args_is_given_up(self, play, script, offer):
        go_on = threading.Event()
        offer(save, effect="write")
        script.add(reply("", call("save")), "Done.")
        run = play()
        approve(run)

        def save_as(key: str) -> None:
            Effect.objects.create(key=key, run="0" * 32)

        offer(
            save_as,
            name="save",
            effect="write",
            upgrade_args=lambda version, arguments: go_on.wait(60) and {"key": "b"},
            timeout_s=0.05,
        )

        run = resume(run)
        go_on.set()

        assert (run.state, statuses(run)) == ("succeeded", ["failed"])
        assert run.calls.get().result["error_type"] == "changed"
        assert not Effect.objects.exists()


class TestInside:
    """What has changed after the site was asked counts all the same."""

    @pytest.mark.parametrize("external", [False, True])
    def test_permission(self, play, script, offer, staff, external):
        def is_enabled(context):
            if is_pending(context):
                staff.user_permissions.remove(granted)
            return True

        granted = Permission.objects.get(codename="view_group")
        staff.user_permissions.add(granted)
        offer(
            save,
            effect="write",
            policy="allow",
            external=external,
            permission="auth.view_group",
            is_enabled=is_enabled,
        )
        script.add(reply("", call("save")), "I see.")

        run = play(user_id=staff.pk)

        assert run.calls.get().result["error_type"] == "permission"
        assert not Effect.objects.exists()

    def test_person(self, play, script, offer, staff):
        def is_enabled(context):
            if is_pending(context):
                type(staff).objects.filter(pk=staff.pk).update(is_active=False)
            return True

        offer(save, effect="write", policy="allow", is_enabled=is_enabled)
        script.add(reply("", call("save")), "I see.")

        run = play(user_id=staff.pk)

        assert (run.state, run.error_code) == ("cancelled", "deactivated")
        assert not Effect.objects.exists()

    def test_policy(self, play, script, offer, options):
        def is_enabled(context):
            if is_pending(context):
                options(POLICY={"save": "deny"})
            return True

        options(POLICY={"save": "allow"})
        offer(save, effect="write", is_enabled=is_enabled)
        script.add(reply("", call("save")), "I see.")

        run = play()

        assert run.calls.get().result["error_type"] == "policy"
        assert not Effect.objects.exists()
