"""Hooks see and change what the model is told, and see what it says."""

from dataclasses import replace

import pytest

import ai_assistant
from ai_assistant.engine.intake.submission import accept
from ai_assistant.exceptions import Refused
from ai_assistant.hooks import Refuse
from ai_assistant.models.run import Run
from ai_assistant.prompts.tree import PromptPart
from ai_assistant.testing import call, reply
from tests.engine.conftest import said, statuses
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.row("H04")
class TestUserMessageReceived:
    def test_refuses_with_its_sentence(self, submission):
        @ai_assistant.hook("user_message_received")
        def polite(context, message):
            return Refuse("Say please.") if "please" not in message.text else None

        with pytest.raises(Refused, match="Say please.") as refused:
            accept(submission("Do it"))

        assert refused.value.code == "hook"
        assert not Run.objects.exists()
        assert accept(submission("Do it, please")).is_new

    def test_a_guard_that_fails_refuses(self, submission):
        @ai_assistant.hook("user_message_received", guard=True)
        def broken(context, message):
            raise ZeroDivisionError

        with pytest.raises(Refused, match="The check “broken” of this site failed"):
            accept(submission())

    def test_one_that_fails_is_told_with_the_run(self, play, script):
        @ai_assistant.hook("user_message_received")
        def broken(context, message):
            raise ZeroDivisionError

        script.add("Hi.")

        run = play()

        assert run.state == "succeeded"
        assert run.hook_errors[0]["error"] == "ZeroDivisionError"

    def test_keeps_state_for_the_run(self, play, script):
        @ai_assistant.hook("user_message_received")
        def remembers(context, message):
            context.state["said"] = [*context.state.get("said", []), message.text]

        script.add("Hi.", "Hi.")
        run = play("One")

        run = play("Two", conversation_id=run.conversation_id)

        assert run.state_values == {__name__: {"said": ["One", "Two"]}}


@pytest.mark.row("H03")
class TestProcessPrompt:
    def test_changes_the_tree_by_its_ids(self, play, script):
        @ai_assistant.hook("process_prompt")
        def house_style(context, prompt):
            first = next(iter(prompt.tree)).id
            prompt.tree.insert_after(
                first, PromptPart(id="style", text="Speak in rhymes.", source="shop")
            )

        script.add("Hi.")

        run = play()

        assert "Speak in rhymes." in script.requests[0].messages[0]["content"]
        parts = run.steps.get().prompt["parts"]
        assert "style" in [part["id"] for part in parts]

    def test_one_that_fails_half_way_changes_nothing(self, play, script):
        @ai_assistant.hook("process_prompt")
        def broken(context, prompt):
            prompt.tree.append(PromptPart(id="half", text="Half."))
            prompt.tree.remove("no such part")

        @ai_assistant.hook("process_prompt", order=1)
        def works(context, prompt):
            prompt.tree.append(PromptPart(id="whole", text="Whole."))

        script.add("Hi.")

        run = play()

        prompt = script.requests[0].messages[0]["content"]
        assert "Whole." in prompt
        assert "Half." not in prompt
        assert "no such part" in run.hook_errors[0]["error"]

    def test_of_each_step(self, play, script):
        steps = []

        @ai_assistant.hook("process_prompt")
        def counts(context, prompt):
            steps.append(prompt.step)

        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")

        play()

        assert steps == [0, 1]


@pytest.mark.row("H09")
class TestBeforeModelRequest:
    def test_changes_the_messages(self, play, script):
        @ai_assistant.hook("before_model_request")
        def louder(context, asked):
            messages = [
                {**one, "content": one["content"].upper()} for one in asked.messages
            ]
            return replace(asked, messages=messages)

        script.add("Hi.")

        run = play("hello")

        assert script.requests[0].messages[-1]["content"] == "HELLO"
        assert run.messages.first().text == "hello"
        (part,) = run.steps.get().prompt["parts"]
        assert part["source"] == "hook:louder"

    def test_leaves_tools_out_which_are_then_refused(self, play, script):
        @ai_assistant.hook("before_model_request")
        def fewer(context, asked):
            names = [name for name in asked.tools if name != "write_effect"]
            return replace(asked, tools=tuple(names))

        script.add(reply("", call("write_effect", {"key": "a"})), "Sorry.")

        run = play()

        offered = [tool["function"]["name"] for tool in script.requests[0].tools]
        assert offered
        assert "write_effect" not in offered
        assert (statuses(run), Effect.objects.count()) == (["denied"], 0)

    def test_leaves_tools_out_that_the_model_was_not_told_of(
        self, play, script, settings
    ):
        options = {**settings.AI_ASSISTANT, "LIMITS": {"TOOL_SCHEMA_CHARS": 10}}
        settings.AI_ASSISTANT = options
        seen = []

        @ai_assistant.hook("before_model_request")
        def fewer(context, asked):
            seen.extend(asked.tools)
            names = [name for name in asked.tools if name != "write_effect"]
            return replace(asked, tools=tuple(names))

        script.add(reply("", call("write_effect", {"key": "a"})), "Sorry.")

        run = play()

        told = [tool["function"]["name"] for tool in script.requests[0].tools]
        assert "write_effect" not in told
        assert "write_effect" in seen
        assert (statuses(run), Effect.objects.count()) == (["denied"], 0)

    def test_adds_none(self, play, script):
        @ai_assistant.hook("before_model_request")
        def more(context, asked):
            return replace(asked, tools=(*asked.tools, "delete_everything"))

        script.add("Hi.")

        run = play()

        offered = [tool["function"]["name"] for tool in script.requests[0].tools]
        assert "delete_everything" not in offered
        assert "added the tools ['delete_everything']" in run.hook_errors[0]["error"]

    @pytest.mark.parametrize("messages", [[], [{}], [{"content": "x"}]])
    def test_messages_without_a_role_are_its_failure(self, play, script, messages):
        @ai_assistant.hook("before_model_request")
        def empties(context, asked):
            return replace(asked, messages=messages)

        script.add("Hi.")

        run = play()

        assert (run.state, said(run)) == ("succeeded", "Hi.")
        assert run.hook_errors

    def test_refused_ends_the_run_with_its_sentence(self, play):
        @ai_assistant.hook("before_model_request")
        def closed(context, asked):
            return Refuse("The model has a day off.")

        run = play()

        assert (run.state, run.error_code) == ("failed", "hook")
        assert run.error_text == "The model has a day off."


@pytest.mark.row("H09")
class TestAfterModelResponse:
    def test_sees_each_reply_with_its_calls(self, play, script):
        seen = []

        @ai_assistant.hook("after_model_response")
        def watches(context, replied):
            seen.append((replied.step, replied.text, replied.calls))

        script.add(reply("Now.", call("write_effect", {"key": "a"})), "Done.")

        play()

        assert seen == [
            (0, "Now.", (("write_effect", '{"key": "a"}'),)),
            (1, "Done.", ()),
        ]

    def test_changes_nothing(self, play, script):
        @ai_assistant.hook("after_model_response")
        def rewrites(context, replied):
            return replace(replied, text="I have told you so.")

        script.add("Hi.")

        run = play()

        assert said(run) == "Hi."
        assert "expected None" in run.hook_errors[0]["error"]


@pytest.mark.row("H06")
class TestResponseUpdate:
    def test_sees_the_beginning_soon(self, play, script):
        seen = []

        @ai_assistant.hook("response_update")
        def watches(context, grown):
            seen.append(grown.text)

        script.add(["One", " ", 0.2, "two"])

        run = play()

        assert seen == ["One "]
        assert said(run) == "One two"

    def test_sees_nothing_of_what_is_whole_at_once(self, play, script):
        seen = []

        @ai_assistant.hook("response_update")
        def watches(context, grown):
            seen.append(grown.text)

        script.add(["One ", "two"])

        play()

        assert seen == []

    def test_sees_more_now_and_then(self, play, script, monkeypatch):
        updates = "ai_assistant.engine.execution.updates.UPDATE_S"
        monkeypatch.setattr(updates, 0.0)
        seen = []

        @ai_assistant.hook("response_update")
        def watches(context, grown):
            seen.append(grown.text)

        script.add(["One ", 0.2, "two ", 0.2, "three", 0.2])

        play()

        assert seen == ["One ", "One two ", "One two three"]


@pytest.mark.row("H07")
class TestResponseComplete:
    def test_sees_the_last_text_once(self, play, script):
        seen = []

        @ai_assistant.hook("response_complete")
        def watches(context, given):
            seen.append((given.step, given.text))

        script.add(reply("Now.", call("write_effect", {"key": "a"})), "Done.")

        play()

        assert seen == [(1, "Done.")]
