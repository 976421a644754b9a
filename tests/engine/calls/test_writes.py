"""A write and the record of its result are one transaction."""

import threading
import time

import pytest
from django.contrib.auth.models import Permission, User
from django.db import IntegrityError, OperationalError, connection, transaction

from ai_assistant import Ask, RunContext, ToolFailed, ToolResult
from ai_assistant.models.call import ToolCall
from ai_assistant.models.run import Run
from ai_assistant.testing import call, reply
from tests.engine.conftest import statuses
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def rows():
    return list(Effect.objects.order_by("pk").values_list("key", flat=True))


@pytest.mark.row("L17")
class TestWrites:
    def test_happen_in_order(self, play, script):
        keys = ["a", "b", "c", "d"]
        script.add(
            reply("", *[call("write_effect", {"key": key}) for key in keys]), "Done."
        )

        play()

        assert rows() == keys

    def test_keep_their_place_among_reads(self, play, script, offer):
        seen = []
        offer(lambda: seen.append(rows()), name="look")
        script.add(
            reply(
                "",
                call("look"),
                call("write_effect", {"key": "a"}),
                call("look"),
                call("write_effect", {"key": "b"}),
                call("look"),
            ),
            "Done.",
        )

        play()

        assert seen == [[], ["a"], ["a", "b"]]

    def test_lease_is_renewed_at_the_end_of_a_long_one(
        self, play, script, offer, monkeypatch
    ):
        def write(context: RunContext) -> None:
            # As if it had taken long: the heartbeat passes by a row that is locked.
            Run.objects.update(lease_until=0)
            transaction.on_commit(lambda: seen.append(Run.objects.get().lease_until))

        seen = []
        monkeypatch.setattr("ai_assistant.conf.heartbeat_s", lambda: 0)
        offer(write, effect="write", policy="allow")
        script.add(reply("", call("write")), "Done.")

        play()

        assert seen[0] > 0

    def test_row_and_record_are_one_transaction(self, play, script, offer, user):
        inside = []

        def look(context: RunContext) -> None:
            inside.append(connection.in_atomic_block)
            Effect.objects.create(key="a", run=context.run_id)
            call_id = ToolCall.objects.get().pk
            seen_outside.append(_outside(Effect, call_id))

        seen_outside = []
        offer(look, effect="write", policy="allow")
        script.add(reply("", call("look")), "Done.")

        play()

        assert inside == [True]
        assert seen_outside == [(0, "pending")]
        assert rows() == ["a"]

    @pytest.mark.parametrize(
        "raised", [RuntimeError("x"), ToolFailed("x"), IntegrityError("x"), Ask("x?")]
    )
    def test_an_error_takes_its_rows_back(self, play, script, offer, raised):
        def fails(context: RunContext) -> None:
            Effect.objects.create(key="a", run=context.run_id)
            raise raised

        offer(fails, effect="write", policy="allow")
        script.add(reply("", call("fails")), "I see.")

        run = play()

        assert rows() == []
        expected = "waiting" if isinstance(raised, Ask) else "failed"
        assert statuses(run) == [expected]

    @pytest.mark.parametrize("value", [object(), float("nan"), ToolResult(ok=False)])
    def test_a_result_that_is_none_takes_its_rows_back(
        self, play, script, offer, value
    ):
        def fails(context: RunContext) -> object:
            Effect.objects.create(key="a", run=context.run_id)
            return value

        offer(fails, effect="write", policy="allow")
        script.add(reply("", call("fails")), "I see.")

        run = play()

        assert (statuses(run), rows()) == (["failed"], [])

    def test_a_commit_that_is_refused_is_a_failed_call(self, play, script, offer):
        def orphan() -> None:
            """Break a foreign key, which is looked at when all is committed."""
            permission = Permission.objects.first()
            User.user_permissions.through.objects.create(
                user_id=999_999, permission_id=permission.pk
            )

        offer(orphan, effect="write", policy="allow")
        script.add(reply("Now.", call("orphan")), "I see.")

        run = play()

        assert (run.state, statuses(run)) == ("succeeded", ["failed"])
        assert run.calls.get().result["error"].find("IntegrityError") > 0

    def test_a_busy_database_is_asked_again(self, play, script, offer):
        tries = []

        def busy(context: RunContext) -> str:
            Effect.objects.create(key=f"try-{len(tries)}", run=context.run_id)
            tries.append(1)
            if len(tries) < 3:
                raise OperationalError("deadlock detected")
            return "ok"

        offer(busy, effect="write", policy="allow")
        script.add(reply("", call("busy")), "Done.")

        run = play()

        assert (statuses(run), rows()) == (["complete"], ["try-2"])

    def test_and_in_the_end_the_call_has_failed(self, play, script, offer, monkeypatch):
        from ai_assistant.engine.storage import units

        monkeypatch.setattr(units, "ATTEMPTS", 2)

        def busy(context: RunContext) -> None:
            Effect.objects.create(key="a", run=context.run_id)
            raise OperationalError("deadlock detected")

        offer(busy, effect="write", policy="allow")
        script.add(reply("", call("busy")), "I see.")

        run = play()

        assert (run.state, statuses(run), rows()) == ("succeeded", ["failed"], [])

    def test_a_hook_of_the_site_that_fails_undoes_nothing(self, play, script, offer):
        def hooked(context: RunContext) -> str:
            Effect.objects.create(key="a", run=context.run_id)

            def after_commit() -> None:
                raise OperationalError("the mail server is away")

            transaction.on_commit(after_commit)
            return "ok"

        offer(hooked, effect="write", policy="allow")
        script.add(reply("Now.", call("hooked")), "Done.")

        run = play()

        assert (run.state, statuses(run), rows()) == ("succeeded", ["complete"], ["a"])

    def test_too_long_a_write_is_undone(self, play, script, offer, options):
        options(TIMEOUTS={"WRITE_S": 0.01})

        def slow(context: RunContext) -> None:
            Effect.objects.create(key="a", run=context.run_id)
            time.sleep(0.02)

        offer(slow, effect="write", policy="allow")
        script.add(reply("", call("slow")), "I see.")

        run = play()

        assert (statuses(run), rows()) == (["failed"], [])
        assert "was undone" in run.calls.get().result["error"]


def _outside(model, call_id):
    """Return what another connection sees."""
    seen = []

    def look():
        from django.db import connections

        status = ToolCall.objects.get(pk=call_id).status
        seen.append((model.objects.count(), status))
        connections.close_all()

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return seen[0]
