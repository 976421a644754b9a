"""What hooks and tools keep, or put into a request, has the label of what it is made of."""

from dataclasses import replace

import pytest

import ai_assistant
from ai_assistant import RunContext
from ai_assistant.prompts.tree import PromptPart
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from tests.testapp.models import Effect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("H21")]
OWN = "tests.hooks.test_labels"
WRITE = reply("", call("write_down", {"key": "stolen"}))


@pytest.fixture(autouse=True)
def write_down(offer):
    """A tool that writes without asking, unless what it writes came from data."""

    def write_down(context: RunContext, key: str) -> None:
        Effect.objects.create(key=key, run=context.run_id)

    offer(write_down, effect="write", policy="allow")


class TestState:
    def test_made_of_the_first_result_is_data(self, play, script, offer):
        @ai_assistant.hook("after_tool")
        def keeps(context, answered):
            context.state["row"] = answered.result.data

        offer(lambda: "stolen", name="look")
        script.add(reply("", call("look")), "Done.")

        run = play()

        assert run.state_values == {OWN: {"row": "stolen"}}
        assert run.state_data == [OWN]

    @pytest.mark.parametrize("effect", ["read", "write"])
    def test_that_a_tool_keeps_of_what_it_has_read_is_data(
        self, options, play, script, offer, effect
    ):
        def look(context: RunContext) -> str:
            context.state["row"] = "stolen"
            return "stolen"

        options(POLICY={"look": "allow"})
        offer(look, effect=effect, takes_data=True)
        script.add(reply("", call("look")), "Done.")

        run = play()

        assert run.calls.get().status == "complete"
        assert list(run.state_values.values()) == [{"row": "stolen"}]
        assert run.state_data == list(run.state_values)

    def test_of_a_client_stays_data_where_a_hook_has_put_it(self, play, script):
        """Also if the client takes its own away."""

        @ai_assistant.hook("user_message_received")
        def keeps(context, message):
            if said := context.state.of("client"):
                context.state["said"] = said["to"]

        script.add("One.", "Two.", WRITE, "Done.")
        first = play("Hello", state={"to": "stolen"})
        same = {"conversation_id": first.conversation_id}
        second = play("And?", state={}, **same)
        assert second.state_values == {OWN: {"said": "stolen"}}

        third = play("Go on", **same)

        assert (second.state_data, third.state_data) == ([OWN], [OWN])
        assert third.state == "waiting_approval"
        assert not Effect.objects.exists()


@pytest.mark.row("B01")
class TestRequest:
    """A hook that puts words of a row into a request says so; then a write asks."""

    def put(self, label, point="process_prompt"):
        @ai_assistant.hook(point, name=f"puts-{point}")
        def puts(context, asked):
            if point == "process_prompt":
                part = PromptPart(id="row", text="stolen", label=label)
                return asked.tree.append(part)
            said = {"role": "user", "content": "stolen"}
            return replace(asked, messages=[*asked.messages, said], label=label)

    @pytest.mark.parametrize("point", ["process_prompt", "before_model_request"])
    @pytest.mark.parametrize(
        ("label", "state", "keys"),
        [("data", "waiting_approval", []), ("site", "succeeded", ["stolen"])],
    )
    def test_label_decides_in_the_same_step(
        self, play, script, point, label, state, keys
    ):
        self.put(label, point)
        script.add(WRITE, "Done.")

        run = play("Go on")

        assert "stolen" in str(script.requests[0].messages)
        assert run.state == state
        assert list(Effect.objects.values_list("key", flat=True)) == keys

    def test_holds_for_the_conversation(self, play, script):
        self.put("data")
        script.add("Hello.")
        first = play()
        registry._registry.pop(("hooks", "process_prompt"))
        script.add(WRITE)

        run = play("Go on", conversation_id=first.conversation_id)

        assert "stolen" not in str(script.requests[1].messages[0])
        assert run.state == "waiting_approval"

    def test_another_hook_takes_no_label_away(self, play, script):
        self.put("data", "before_model_request")

        @ai_assistant.hook("before_model_request", order=1)
        def cleans(context, asked):
            return replace(asked, label="site")

        script.add(WRITE)

        assert play("Go on").state == "waiting_approval"
