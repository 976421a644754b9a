"""A conversation with the demo model, whose tools the test plays."""

import json

import pytest

from ai_assistant.types import (
    ModelRequest,
    ReasoningDelta,
    ReplyEnd,
    TextDelta,
    ToolCallDelta,
)
from project.demo_model import DemoProvider

TOOLS = (
    "list_questionnaires",
    "count_questions",
    "read_questionnaire",
    "rename_section",
    "publish_questionnaire",
    "archive_questionnaire",
    "delete_section",
    "recompute_positions",
    "add_question",
    "search_wiki",
    "execute_query",
    "search_objects",
    "aggregate_objects",
    "change_object",
    "change_objects",
    "create_object",
    "delete_objects",
    "undo_changes",
    "echo",
)


class Said:
    """One reply, put together from its chunks."""

    def __init__(self, chunks):
        self.chunks = chunks
        self.text = "".join(c.text for c in chunks if isinstance(c, TextDelta))
        self.reasoning = "".join(
            c.text for c in chunks if isinstance(c, ReasoningDelta)
        )
        calls = [c for c in chunks if isinstance(c, ToolCallDelta)]
        self.call_id = "".join(c.provider_id for c in calls)
        self.name = "".join(c.name for c in calls)
        written = "".join(c.arguments for c in calls)
        self.arguments = json.loads(written) if calls else None
        self.end = chunks[-1]
        assert isinstance(self.end, ReplyEnd)

    @property
    def call(self):
        return (self.name, self.arguments)


class Conversation:
    """Keeps the messages as the engine would, in the OpenAI form."""

    def __init__(self, tools=TOOLS):
        self.tools = [{"type": "function", "function": {"name": t}} for t in tools]
        self.messages = [{"role": "system", "content": "Be brief."}]
        self.provider = DemoProvider({"DELAY_S": 0})

    async def say(self, text):
        self.messages.append({"role": "user", "content": text})
        return await self._reply()

    def stores(self, data):
        """Answer the last call with `data`."""
        content = data if isinstance(data, str) else json.dumps(data)
        self.messages.append(
            {"role": "tool", "tool_call_id": self.said.call_id, "content": content}
        )

    async def result(self, data):
        """Answer the last call with `data`, and let the model go on."""
        self.stores(data)
        return await self._reply()

    async def fails(self, error_type, error="It went wrong."):
        return await self.result(
            {"ok": False, "error": error, "error_type": error_type}
        )

    async def _reply(self):
        request = ModelRequest(model="demo", messages=self.messages, tools=self.tools)
        self.said = Said([chunk async for chunk in self.provider.stream(request)])
        message = {"role": "assistant", "content": self.said.text}
        if self.said.name:
            function = {
                "name": self.said.name,
                "arguments": json.dumps(self.said.arguments),
            }
            message["tool_calls"] = [
                {"id": self.said.call_id, "type": "function", "function": function}
            ]
        self.messages.append(message)
        return self.said


@pytest.fixture
def talk():
    return Conversation()


@pytest.fixture
def talk_without_tools():
    return Conversation(tools=())
