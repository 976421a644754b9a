"""Tools that a page declares for itself."""

import pytest

from ai_assistant.engine.interrupts.browser import claim_call, finish_call
from ai_assistant.testing import call, reply
from tests.engine.calls.browser.conftest import said
from tests.engine.conftest import resume

pytestmark = pytest.mark.django_db(transaction=True)

PARAMETERS = {"properties": {"row": {"type": "integer"}}, "required": ["row"]}
PICK = {"name": "pick", "description": "Pick a row.", "parameters": PARAMETERS}


def told(script):
    return {tool["function"]["name"]: tool for tool in script.requests[0].tools}


class TestDeclared:
    def test_model_is_told_of_it(self, play, script):
        script.add("Hello.")
        play(context={"tools": [PICK]})

        tool = told(script)["pick"]["function"]

        assert tool["description"] == "Pick a row."
        assert tool["parameters"]["required"] == ["row"]

    def test_pattern_of_a_page_is_never_matched_here(self, play, script):
        slow = {"type": "string", "pattern": "^(a+)+$"}
        nested = {"type": "array", "items": slow}
        said_of = {"properties": {"pattern": slow, "many": nested}}
        script.add(reply("", call("pick", {"pattern": "a" * 40 + "!"})), "Done.")

        run = play(context={"tools": [{**PICK, "parameters": said_of}]})

        given = told(script)["pick"]["function"]["parameters"]["properties"]
        assert given["pattern"] == {"type": "string"}
        assert given["many"]["items"] == {"type": "string"}
        assert run.state == "waiting_browser"

    @pytest.mark.parametrize("depth", [20, 40, 300])
    def test_schema_that_is_too_deep_is_left_out(self, play, script, depth):
        nested = {"type": "string"}
        for _ in range(depth):
            nested = {"type": "array", "items": nested}
        script.add("Hello.")

        run = play(
            context={
                "tools": [
                    {**PICK, "parameters": {"properties": {"a": nested}}},
                    {**PICK, "name": "other"},
                ]
            }
        )

        assert run.state == "succeeded"
        assert ("pick" in told(script), "other" in told(script)) == (depth < 32, True)

    @pytest.mark.row("H19")
    def test_page_carries_it_out(self, play, script):
        script.add(reply("", call("pick", {"row": 3})), "Picked.")
        run = play(context={"tools": [PICK]})
        assert run.state == "waiting_browser"
        assert run.interrupts.get().request == {"name": "pick", "arguments": {"row": 3}}
        claim_call(said(run))
        finish_call(said(run, value="the third"))

        run = resume(run)

        assert (run.state, run.calls.get().effect) == ("succeeded", "ui")
        assert script.requests[1].messages[-1]["content"] == "the third"

    def test_wrong_arguments_reach_no_page(self, play, script):
        script.add(reply("", call("pick", {"row": "x"})), "Oh.")

        run = play(context={"tools": [PICK]})

        assert (run.state, run.calls.get().status) == ("succeeded", "failed")

    def test_declared_never_stands_in_for_a_tool_of_the_server(self, play, script):
        script.add("Hello.")
        play(context={"tools": [{**PICK, "name": "highlight"}]})

        assert PICK["description"] not in str(told(script).get("highlight", ""))

    def test_declared_in_another_run_it_is_unknown(self, play, script):
        script.add(reply("", call("pick", {"row": 3})), "Oh.")

        assert play().calls.get().result["error_type"] == "unknown_tool"

    @pytest.mark.row("T06")
    def test_declared_after_its_page_it_is_said_to_have_gone(self, play, script):
        script.add(reply("", call("pick", {"row": 3})), "Picked.")
        first = play(context={"tools": [PICK]})
        claim_call(said(first))
        finish_call(said(first, value="the third"))
        resume(first)
        script.add(reply("", call("pick", {"row": 4})), "Oh.")

        run = play(conversation_id=first.conversation_id)

        result = run.calls.get().result
        assert (result["ok"], result["error_type"]) == (False, "not_here")
        assert "“pick” is not available on this page now" in result["error"]
        assert "highlight" in result["suggestion"]

    def test_declared_can_be_switched_off(self, play, script, options):
        options(CLIENT_TOOLS=False)
        script.add("Hello.")
        play(context={"tools": [PICK]})

        assert "pick" not in told(script)

    @pytest.mark.parametrize(
        "broken",
        [
            {"name": "a b"},
            {"name": "x" * 65},
            {"parameters": {"type": "string"}},
            {"parameters": {"properties": {"a": {"type": "no type"}}}},
        ],
    )
    def test_what_no_model_can_be_told_is_left_out(self, play, script, broken):
        script.add("Hello.")
        run = play(context={"tools": [{**PICK, **broken}]})

        assert run.state == "succeeded"
        assert not {"pick", "a b", "x" * 65} & {*told(script)}
