"""Each call knows which tool it was for; another tool of that name is asked anew."""

import pytest

from ai_assistant.engine.calls import versions
from ai_assistant.engine.calls.background import perform
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.interrupts.base import Answer
from ai_assistant.models.call import ToolVersion
from ai_assistant.models.interrupt import Interrupt
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from ai_assistant.tools.manifest import compute_tool_version
from tests.engine.conftest import resume, statuses
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _fresh():
    versions.forget()


def approve(run):
    one = run.interrupts.get(status="open", kind="approval")
    answer(
        Answer(
            user_id=run.user_id,
            interrupt_id=one.pk,
            nonce=one.nonce,
            decision="approve",
        )
    )


def old(key: str) -> dict:
    Effect.objects.create(key=key, run="0" * 32)
    return {"key": key}


def new(key: str, value: str = "new") -> dict:
    Effect.objects.create(key=key, value=value, run="0" * 32)
    return {"key": key}


class TestStored:
    def test_stored_with_the_call_and_the_run(self, play, script, options):
        options(LIMITS={"TOOL_SCHEMA_CHARS": 1_000_000})
        script.add(reply("", call("read_big", {"chars": 1})), "Done.")

        run = play()

        version = compute_tool_version(registry.tool("read_big"))
        assert run.calls.get().version == version
        assert run.tool_versions["read_big"] == version
        row = ToolVersion.objects.get(pk=version)
        assert (row.name, row.label, row.effect) == ("read_big", "Read big", "read")
        assert row.schema["parameters"]["required"] == ["chars"]

    def test_version_of_a_tool_is_stored_once(
        self, play, script, django_assert_num_queries
    ):
        script.add(
            reply("", call("read_big", {"chars": 1}), call("read_big", {"chars": 2})),
            "Done.",
        )

        play()

        assert ToolVersion.objects.count() == 1
        with django_assert_num_queries(0):
            versions.remember([registry.tool("read_big")])

    def test_stored_outlives_the_tool(self, play, script, offer):
        tool = offer(lambda: 1, name="short_lived")
        script.add(reply("", call("short_lived")), "Done.")
        run = play()
        registry.remove_tool("short_lived")

        row = versions.version_row(run.calls.get())

        assert (row.name, row.label, row.hash) == (
            "short_lived",
            "Short_lived",
            compute_tool_version(tool),
        )


class TestApproval:
    def test_approval_lapses_and_is_asked_again(self, play, script, offer):
        offer(old, name="save", effect="write")
        script.add(reply("", call("save", {"key": "a"})), "Done.")
        run = play()
        approve(run)
        tool = offer(new, name="save", effect="write")

        run = resume(run)

        assert (run.state, statuses(run)) == ("waiting_approval", ["waiting"])
        assert run.calls.get().version == compute_tool_version(tool)
        assert not Effect.objects.exists()

        approve(run)
        run = resume(run)

        assert (run.state, statuses(run)) == ("succeeded", ["complete"])
        assert Effect.objects.get().value == "new"
        assert [i.status for i in run.interrupts.all()] == ["approved"] * 2

    def test_arguments_are_upgraded_and_shown_anew(self, play, script, offer):
        before = compute_tool_version(offer(old, name="save", effect="write"))
        script.add(reply("", call("save", {"key": "a"})), "Done.")
        run = play()
        approve(run)
        seen = []

        def upgrade(version, arguments):
            seen.append(version)
            return {**arguments, "value": "upgraded"}

        offer(new, name="save", effect="write", upgrade_args=upgrade)

        run = resume(run)

        one = run.calls.get()
        assert seen == [before]
        assert one.arguments == {"key": "a", "value": "upgraded"}
        shown = run.interrupts.get(status="open")
        assert shown.arguments_digest == one.arguments_digest

        approve(run)
        resume(run)
        assert Effect.objects.get().value == "upgraded"

    @pytest.mark.row("X01")
    def test_arguments_that_no_longer_fit_are_a_result(self, play, script, offer):
        def other(number: int) -> int:
            return number

        offer(old, name="save", effect="write")
        script.add(reply("", call("save", {"key": "a"})), "I see.")
        run = play()
        approve(run)
        offer(other, name="save", effect="write")

        run = resume(run)

        one = run.calls.get()
        assert (run.state, one.status) == ("succeeded", "failed")
        assert one.result["error_type"] == "changed"
        assert one.result["schema_hint"]["allowed"] == ["number"]

    def test_approval_of_a_background_call_too(self, play, script, offer, given_out):
        offer(old, name="save", effect="write", background=True)
        script.add(reply("", call("save", {"key": "a"})), "Done.")
        run = play()
        approve(run)
        offer(new, name="save", effect="write", background=True)

        perform(run.calls.get().pk)
        run.refresh_from_db()

        assert (run.state, statuses(run)) == ("waiting_approval", ["waiting"])
        assert not Effect.objects.exists()
        kinds = run.interrupts.filter(status=Interrupt.Status.OPEN)
        assert [one.kind for one in kinds] == ["approval"]

        approve(run)
        perform(run.calls.get().pk)
        assert (resume(run).state, Effect.objects.get().value) == ("succeeded", "new")

    def test_approval_stands_while_the_tool_is_the_same(self, play, script, offer):
        offer(old, name="save", effect="write")
        script.add(reply("", call("save", {"key": "a"})), "Done.")
        run = play()
        approve(run)

        assert resume(run).state == "succeeded"
