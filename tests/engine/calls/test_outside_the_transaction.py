"""What a tool does outside of its transaction: before it, or elsewhere."""

import asyncio
import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection

from ai_assistant import Ask, RunContext, ToolFailed
from ai_assistant.models.call import ToolCall
from ai_assistant.testing import call, reply
from tests.engine.conftest import facts, statuses
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def rows():
    return list(Effect.objects.order_by("pk").values_list("key", flat=True))


def write(context: RunContext, key: str) -> str:
    """Write one row, to be replaced by a test that raises after it."""
    Effect.objects.create(key=key, run=context.run_id)
    return key


def _expired_session():
    from datetime import timedelta

    from django.utils import timezone

    from ai_assistant.safety.identity.session import SessionStamp

    return SessionStamp(expires_at=timezone.now() - timedelta(seconds=1))


class TestPrepare:
    def test_prepare_comes_before_the_transaction(self, play, script, offer):
        inside = []

        def prepare(context: RunContext, key: str) -> str:
            inside.append(connection.in_atomic_block)
            return key.upper()

        def tool(context: RunContext, key: str) -> str:
            inside.append(connection.in_atomic_block)
            Effect.objects.create(key=context.prepared, run=context.run_id)
            return context.prepared

        offer(tool, effect="write", policy="allow", prepare=prepare)
        script.add(reply("", call("tool", {"key": "a"})), "Done.")

        play()

        assert (inside, rows()) == ([False, True], ["A"])

    @pytest.mark.parametrize(
        ("raised", "status"), [(ToolFailed("No."), "failed"), (Ask("Sure?"), "waiting")]
    )
    def test_prepare_that_fails_writes_nothing(
        self, play, script, offer, raised, status
    ):
        def prepare(context: RunContext, key: str) -> None:
            raise raised

        offer(write, effect="write", policy="allow", prepare=prepare)
        script.add(reply("", call("write", {"key": "a"})), "I see.")

        run = play()

        assert (statuses(run), rows()) == ([status], [])

    def test_prepare_that_hangs_is_given_up(self, play, script, offer):
        done = threading.Event()

        def prepare(context: RunContext, key: str) -> None:
            done.wait(20)

        offer(write, effect="write", policy="allow", prepare=prepare, timeout_s=0.05)
        script.add(reply("", call("write", {"key": "a"})), "I see.")

        run = play()
        done.set()

        assert (statuses(run), rows()) == (["failed"], [])

    def test_prepare_asks_for_permission_first(self, play, script, offer, staff):
        def prepare(context: RunContext, key: str) -> None:
            raise AssertionError

        offer(write, effect="write", policy="allow", prepare=prepare)
        script.add(reply("", call("write", {"key": "a"})), "I see.")
        expired = _expired_session()

        run = play(user_id=staff.pk, stamp=expired)

        assert (run.state, statuses(run)) == ("succeeded", ["failed"])
        assert run.calls.get().result["error_type"] == "session_expired"


class TestExternal:
    def test_external_is_claimed_before_it_happens(self, play, script, offer):
        seen = []

        def mail(context: RunContext) -> str:
            seen.append((ToolCall.objects.get().status, connection.in_atomic_block))
            return context.idempotency_key

        offer(mail, effect="write", external=True, policy="allow")
        script.add(reply("", call("mail")), "Sent.")

        run = play()

        one = run.calls.get()
        assert seen == [("executing", False)]
        assert one.result["data"] == f"{run.pk}:{one.step_id}:0"
        assert "aia.call" in facts(run)

    def test_given_up_is_unknown(self, play, script, offer):
        async def mail() -> None:
            await asyncio.sleep(20)

        offer(mail, effect="write", external=True, policy="allow", timeout_s=1)
        script.add(reply("", call("mail")), "I do not know.")

        run = play()

        assert statuses(run) == ["unknown"]
        assert (run.state, run.error_code) == ("needs_review", "unknown_outcome")
        assert (
            "may or may not have taken effect"
            in script.requests[1].messages[-1]["content"]
        )

    def test_failed_is_failed(self, play, script, offer):
        def mail() -> None:
            raise ToolFailed("No such address.")

        offer(mail, effect="write", external=True, policy="allow")
        script.add(reply("", call("mail")), "I see.")

        run = play()

        assert (run.state, statuses(run)) == ("succeeded", ["failed"])

    def test_external_without_permission_is_never_begun(
        self, play, script, offer, user
    ):
        begun = []
        offer(
            lambda: begun.append(1),
            name="mail",
            effect="write",
            external=True,
            policy="allow",
        )
        offer(
            lambda: User.objects.update(is_active=False) and None,
            name="fire",
            effect="write",
            policy="allow",
        )
        script.add(reply("", call("fire"), call("mail")))

        run = play()

        assert begun == []
        assert (run.state, run.error_code) == ("cancelled", "deactivated")
        assert statuses(run) == ["complete", "cancelled"]

    def test_refused_alone_is_never_begun(self, play, script, offer):
        begun = []
        offer(
            lambda: begun.append(1),
            name="mail",
            effect="write",
            external=True,
            policy="allow",
        )
        script.add(reply("", call("mail")), "I see.")

        run = play(stamp=_expired_session())

        assert (begun, statuses(run)) == ([], ["failed"])
