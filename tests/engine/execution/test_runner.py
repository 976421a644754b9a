"""Runs from their message to their end, with a scripted model."""

import pytest

from ai_assistant import ToolFailed
from ai_assistant.models.conversation import Message
from ai_assistant.testing import call, reasoning, reply
from tests.engine.conftest import facts, said, statuses
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


class TestAnswer:
    @pytest.mark.row("H14")
    def test_answer_ends_well(self, play, script):
        script.add(reply("Hello there."))

        run = play("Hi")

        assert run.state == "succeeded"
        assert (run.error_code, run.error_text) == ("", "")
        assert said(run) == "Hello there."
        assert facts(run) == [
            "RUN_STARTED",
            "STEP_STARTED",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_CONTENT",
            "TEXT_MESSAGE_END",
            "STEP_FINISHED",
            "RUN_FINISHED",
        ]

    @pytest.mark.row("D06")
    def test_messages_are_stored_in_order(self, play, script):
        script.add([reasoning("Hm."), "Hello."])

        run = play("Hi")

        asked, answered = run.messages.order_by("position")
        assert (asked.role, asked.position, asked.text) == ("user", 0, "Hi")
        assert (answered.role, answered.position) == ("assistant", 1)
        assert [part["type"] for part in answered.parts] == ["reasoning", "text"]
        assert answered.state == Message.State.COMPLETE

    def test_usage_is_kept(self, play, script):
        from decimal import Decimal

        from ai_assistant.types import Usage

        usage = Usage(
            input_tokens=7, output_tokens=5, cached_tokens=3, cost_usd=Decimal("0.01")
        )
        script.add(reply("Hello.", usage=usage))

        run = play()

        step, took = run.steps.get(), run.usage.get()
        assert (took.input_tokens, took.output_tokens) == (7, 5)
        assert (took.cached_tokens, took.cost_usd) == (3, Decimal("0.01"))
        assert (step.index, step.model, step.finish_reason) == (0, "scripted", "stop")


@pytest.mark.row("H18")
@pytest.mark.row("H20")
class TestTools:
    @pytest.mark.row("L02")
    def test_whole_way(self, play, script):
        script.add(
            reply("Let me look.", call("echo", {"text": "seen"})), reply("It says so.")
        )

        run = play()

        assert run.state == "succeeded"
        assert said(run) == "Let me look.|It says so."
        assert facts(run)[5:11] == [
            "TOOL_CALL_START",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_END",
            "TOOL_CALL_RESULT",
            "STEP_FINISHED",
            "STEP_STARTED",
        ]

    @pytest.mark.row("V04")
    def test_model_reads_the_result(self, play, script):
        script.add(reply("", call("echo", {"text": "seen"}, provider_id="c1")), "Yes.")

        play("Look")

        system, *chat = script.requests[1].messages
        assert system["role"] == "system"
        assert chat == [
            {"role": "user", "content": "Look"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "echo", "arguments": '{"text": "seen"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "seen"},
        ]

    @pytest.mark.row("L03")
    def test_call_is_a_row(self, play, script):
        script.add(reply("", call("echo", {"text": "seen"}, provider_id="c1")), "Yes.")

        one = play().calls.get()

        assert (one.name, one.label, one.effect) == ("echo", "Echo", "read")
        assert (one.provider_id, one.position, one.arguments) == (
            "c1",
            0,
            {"text": "seen"},
        )
        assert (one.status, one.result_text) == ("complete", "seen")
        assert one.result["data"] == "seen"
        assert one.finished_at >= one.created_at

    def test_tools_calls_of_two_steps(self, play, script):
        script.add(
            reply("", call("echo", {"text": "a"}), call("echo", {"text": "b"})),
            reply("", call("write_effect", {"key": "c"})),
            "Done.",
        )

        run = play()

        assert statuses(run) == ["complete"] * 3
        assert list(run.steps.values_list("index", flat=True)) == [0, 1, 2]
        assert Effect.objects.get().key == "c"


@pytest.mark.row("L04")
class TestCallsThatCannotBe:
    @pytest.mark.parametrize(
        ("asked", "kind", "told"),
        [
            (call("nothing_such"), "unknown_tool", "There is no tool"),
            (call("echo", '{"text": '), "retry", "not valid JSON"),
            (call("echo", "[1]"), "retry", "JSON list"),
            (call("echo", {}), "retry", "argument 'text'"),
            (call("echo", {"text": "a", "more": 1}), "retry", "argument 'more'"),
            (call("boom"), "exception", "ZeroDivisionError"),
        ],
    )
    def test_get_a_result_that_the_model_can_repair(
        self, play, script, asked, kind, told
    ):
        script.add(reply("", asked), "I see.")

        run = play()

        one = run.calls.get()
        assert run.state == "succeeded"
        assert (one.status, one.result["error_type"]) == ("failed", kind)
        assert told in one.result["error"]
        assert told in script.requests[1].messages[-1]["content"]

    @pytest.mark.row("T14")
    def test_name_alone_tells_whether_there_is_a_tool(self, play, script, offer):
        def lamp() -> None:
            """Switch the lamp on."""
            raise ToolFailed("There is no tool “lamp”: not found.")

        offer(lamp)
        script.add(reply("", call("lamp"), call("Lamp")), "I see.")

        kinds = [one.result["error_type"] for one in play().calls.order_by("position")]

        assert kinds == ["failed", "unknown_tool"]

    def test_raised_text_stays_inside(self, play, script):
        script.add(reply("", call("boom")), "I see.")

        run = play()

        assert "boom()" not in str(run.calls.get().result)

    @pytest.mark.row("V06")
    def test_broken_arguments_go_back_as_an_object(self, play, script):
        script.add(reply("", call("echo", '{"text": ')), "I see.")

        play()

        (asked,) = script.requests[1].messages[-2]["tool_calls"]
        assert asked["function"]["arguments"] == "{}"

    def test_empty_name(self, play, script):
        script.add(reply("", call("")), "I see.")

        run = play()

        assert run.state == "succeeded"
        (asked,) = script.requests[1].messages[-2]["tool_calls"]
        assert asked["function"]["name"] != ""

    def test_name_that_no_provider_takes(self, play, script):
        script.add(reply("", call("rm -rf /; " + "x" * 300)), "I see.")

        play()

        (asked,) = script.requests[1].messages[-2]["tool_calls"]
        name = asked["function"]["name"]
        assert name.replace("_", "a").replace("-", "a").isalnum()
        assert len(name) <= 64

    def test_no_permission(self, play, script, staff):
        from ai_assistant.registry import registry

        assert "rename_section" in registry.tools()
        script.add(
            reply("", call("rename_section", {"section": 1, "title": "x"})), "No."
        )

        run = play(user_id=staff.pk)

        assert run.state == "succeeded"
        assert run.calls.get().status in ("denied", "failed")

    def test_denied_by_the_site(self, play, script, options):
        options(POLICY={"echo": "deny"})
        script.add(reply("", call("echo", {"text": "a"})), "No.")

        one = play().calls.get()

        assert (one.status, one.reason) == ("denied", "policy")


class TestStrangeText:
    @pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "\U0001f600 ‮ ﷽"])
    def test_strange_text_of_a_model(self, play, script, text):
        script.add([text])

        run = play()

        assert run.state == "succeeded"

    @pytest.mark.parametrize("text", ["a\x00b", "a\ud800b"])
    def test_strange_text_of_a_tool(self, play, script, offer, text):
        offer(lambda: text, name="strange")
        script.add(reply("", call("strange")), "Yes.")

        run = play()

        assert (run.state, statuses(run)) == ("succeeded", ["complete"])

    @pytest.mark.parametrize("text", ["\\ud800", "\\u0000"])
    def test_strange_text_of_arguments(self, play, script, text):
        script.add(reply("", call("echo", f'{{"text": "{text}"}}')), "Yes.")

        run = play()

        assert run.state == "succeeded"
        str(script.requests[1].messages).encode()
