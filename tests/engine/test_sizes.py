"""What is too large is told so, cut or left out, and never parted wrongly."""

import json

import pytest

from ai_assistant.engine.execution import steps
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.storage.fitting import LEFT_OUT, newest_that_fit
from ai_assistant.engine.storage.history import chat_messages
from ai_assistant.exceptions import Refused
from ai_assistant.testing import call, reply
from ai_assistant.tools import arguments
from tests.engine.conftest import statuses

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("U02")]


def group(*sizes):
    """Return a reply with one call a size, each with a result of that size."""
    calls = [{"function": {"name": "a", "arguments": ""}} for _ in sizes]
    results = [{"role": "tool", "content": "x" * size} for size in sizes]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


class TestNewestThatFit:
    def test_all_groups_are_kept_if_they_fit(self):
        groups = [group(10), group(10)]

        assert newest_that_fit(groups, 20) == groups

    def test_the_newest(self):
        groups = [group(10), group(10), group(9)]

        assert newest_that_fit(groups, 20) == groups[1:]

    def test_no_older_one_after_a_gap(self):
        groups = [group(1), group(50), group(9)]

        assert newest_that_fit(groups, 20) == groups[2:]

    def test_results_of_the_last_are_cut(self):
        ((said, *results),) = newest_that_fit([group(100, 5, 100)], 60)

        assert len(said["tool_calls"]) == len(results) == 3
        cut = f"{'x' * 20}\n[cut: 20 of 100 characters fit here.]"
        assert [one["content"] for one in results] == [cut, "xxxxx", cut]


class TestHistory:
    @pytest.mark.row("B04")
    def test_history_keeps_what_fits(self, play, script, options):
        script.add("a" * 5000, "b" * 5000, "c" * 10)
        first = play("One?")
        for text in ("Two?", "Three?"):
            last = play(text, conversation_id=first.conversation_id)

        options(LIMITS={"HISTORY_CHARS": 5100})
        chat = chat_messages(last)

        assert [entry["role"] for entry in chat] == ["user", "assistant"] * 2
        assert chat[0]["content"] == f"{LEFT_OUT}\n\nTwo?"
        assert chat[2] == {"role": "user", "content": "Three?"}

    def test_history_of_one_long_run_begins_with_its_question(
        self, play, script, options
    ):
        script.add(*[reply("", call("echo", {"text": "x" * 3000}))] * 3, "Done.")
        options(LIMITS={"HISTORY_CHARS": 7000})

        run = play("What?")

        assert run.state == "succeeded"
        chat = script.requests[-1].messages[1:]
        assert [entry["role"] for entry in chat] == ["user", "assistant", "tool"]
        assert chat[0]["content"] == f"{LEFT_OUT}\n\nWhat?"
        assert chat[1]["tool_calls"][0]["id"] == chat[2]["tool_call_id"]

    def test_history_says_nothing_if_all_fits(self, play, script):
        script.add("Yes.")

        play("Hello")

        assert script.requests[0].messages[1]["content"] == "Hello"


@pytest.mark.row("X07")
class TestOthers:
    def test_message(self, submission, options):
        options(LIMITS={"MESSAGE_CHARS": 5})

        with pytest.raises(Refused, match="has 6 characters; at most 5 can be sent"):
            accept(submission("123456"))

    def test_arguments(self, play, script, monkeypatch):
        monkeypatch.setattr(arguments, "MAX_ARGUMENTS_CHARS", 40)
        monkeypatch.setattr(steps, "MAX_ARGUMENTS_CHARS", 40)
        script.add(reply("", call("echo", {"text": "x" * 50})), "I see.")

        run = play()

        assert statuses(run) == ["failed"]
        stored = run.calls.get()
        assert "characters (at most 40). Send less at once." in stored.error
        assert len(stored.arguments_text) == 40

    def test_result(self, play, script, options):
        options(LIMITS={"RESULT_CHARS": 100})
        script.add(reply("", call("echo", {"text": "x" * 500})), "I see.")

        run = play()

        text = run.calls.get().result_text
        named = f"read_result(call='{run.calls.get().pk}', from=100)"
        assert text.endswith(
            f"[cut: 100 of 500 characters. Ask for less, or read on: {named}.]"
        )
        assert run.calls.get().result["data"] == "x" * 500

    def test_result_is_stored_whole_in_the_request(self, play, script):
        script.add(reply("", call("echo", {"text": "abc"})), "I see.")

        play()

        last = script.requests[-1].messages[-1]
        assert (last["role"], last["content"]) == ("tool", "abc")
        assert json.loads(
            script.requests[-1].messages[-2]["tool_calls"][0]["function"]["arguments"]
        ) == {"text": "abc"}


class TestSameFailures:
    """The same call three times ends the run, whatever keeps it from happening."""

    @pytest.mark.row("T11")
    def test_refused_by_the_policy(self, play, script, options):
        options(POLICY={"echo": "deny"})
        script.add(*[reply("", call("echo", {"text": "a"}))] * 3)

        run = play()

        assert (run.error_code, statuses(run)) == (
            "limit_same_failures",
            ["denied"] * 3,
        )

    def test_same_failures_without_permission(self, play, script, offer, staff):
        offer(lambda: 1, name="secret", permission="auth.delete_user")
        script.add(*[reply("", call("secret"))] * 3)

        run = play(user_id=staff.pk)

        assert run.error_code == "limit_same_failures"

    def test_called_too_often(self, play, script, offer):
        offer(lambda: 1, name="letter", rate="1/h")
        script.add(*[reply("", call("letter"))] * 4)

        run = play()

        assert (run.error_code, statuses(run)) == (
            "limit_same_failures",
            ["complete", *["denied"] * 3],
        )

    def test_unknown_tool(self, play, script):
        script.add(*[reply("", call("nothing"))] * 3)

        assert play().error_code == "limit_same_failures"

    def test_rejected_by_the_person(self, play, script, options):
        from ai_assistant.engine.interrupts.answers import answer
        from tests.engine.conftest import resume
        from tests.engine.people import given

        options(POLICY={})
        script.add(*[reply("", call("write_effect", {"key": "a"}))] * 3)
        run = play()
        for _ in range(2):
            answer(given(run, "deny"))
            run = resume(run)
        answer(given(run, "deny"))

        run = resume(run)

        assert run.error_code == "limit_same_failures"
        assert len(script.requests) == 3
