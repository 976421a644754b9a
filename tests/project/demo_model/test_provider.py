from decimal import Decimal

import pytest

from ai_assistant.types import ReplyEnd, ToolCallDelta
from project.demo_model import answers
from tests.project.demo_model.conftest import Conversation


class TestStream:
    async def test_text_comes_in_small_pieces(self, talk):
        said = await talk.say("tell me about markdown")

        assert said.text == answers.MARKDOWN
        assert max(len(c.text.strip()) for c in said.chunks[:-1]) <= 12

    async def test_stream_ends_once_with_usage_that_costs_nothing(self, talk):
        said = await talk.say("think about sheep")

        ends = [c for c in said.chunks if isinstance(c, ReplyEnd)]
        assert len(ends) == 1
        assert ends[0].finish_reason == "stop"
        assert ends[0].usage.cost_usd == Decimal(0)
        assert ends[0].usage.output_tokens == len(said.chunks) - 1
        assert ends[0].usage.input_tokens > 0
        assert ends[0].usage.reasoning_tokens > 0

    async def test_call_is_named_once_and_its_arguments_come_in_pieces(self, talk):
        said = await talk.say("rename section 12 to Welcome and consent")

        calls = [c for c in said.chunks if isinstance(c, ToolCallDelta)]
        assert [bool(c.name and c.provider_id) for c in calls] == [
            True,
            *[False] * (len(calls) - 1),
        ]
        assert len(calls) > 3
        assert said.end.finish_reason == "tool_calls"

    async def test_each_call_has_an_id_of_its_own(self, talk):
        first = await talk.say("list drafts")
        second = await talk.say("list drafts")

        assert first.call_id != second.call_id

    async def test_tool_that_is_not_offered(self, talk_without_tools):
        """The site refuses the call, and only it can say why."""
        talk = talk_without_tools
        said = await talk.say("delete section 3")
        assert said.name == "delete_section"

        said = await talk.result(
            {
                "ok": False,
                "error": "This site does not allow “delete_section”.",
                "error_type": "policy",
                "suggestion": "Denied by a rule of this site: Ask Eve.",
            }
        )

        assert said.text == (
            "“Delete a section with its questions” is not available to you here. "
            "Nothing was done. The answer was:\n\n> This site does not allow "
            "“delete_section”. Denied by a rule of this site: Ask Eve."
        )
        assert said.end.finish_reason == "stop"

    async def test_help_leaves_out_what_is_not_offered(self):
        viewer = Conversation(tools=("list_questionnaires", "count_questions"))

        said = await viewer.say("help")

        assert "`list draft" in said.text
        assert "`how many questions" in said.text
        assert "`think about" in said.text
        for wish in ("how many sections", "show", "rename", "delete", "recompute"):
            assert f"`{wish}" not in said.text

    async def test_stream_reads_content_in_parts(self, talk):
        said = await talk.say([{"type": "text", "text": "delete section 3"}])

        assert said.call == ("delete_section", {"section_id": 3})

    @pytest.mark.parametrize("wish", ["", "   "])
    async def test_stream_says_what_it_is_if_nothing_is_said(self, talk, wish):
        assert (await talk.say(wish)).text == answers.HELP
