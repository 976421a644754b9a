from ai_assistant.testing import FunctionProvider, call
from ai_assistant.types import ModelRequest, ReplyEnd, TextDelta, ToolCallDelta

REQUEST = ModelRequest(model="m", messages=[{"role": "user", "content": "Hello"}])


async def played(provider):
    return [chunk async for chunk in provider.stream(REQUEST)]


class TestFunctionProvider:
    async def test_plays_what_is_returned(self):
        async def echo(request):
            return f"You said {request.messages[-1]['content']}."

        assert await played(FunctionProvider(echo)) == [
            TextDelta(text="You said Hello."),
            ReplyEnd(finish_reason="stop"),
        ]

    async def test_plays_calls(self):
        async def ask(_):
            return [call("look")]

        assert await played(FunctionProvider(ask)) == [
            ToolCallDelta(index=0, name="look", arguments="{}"),
            ReplyEnd(finish_reason="tool_calls"),
        ]

    async def test_plays_a_generator(self):
        async def tell(_):
            yield TextDelta(text="one")
            yield ReplyEnd(finish_reason="length")

        assert await played(FunctionProvider({"FUNCTION": tell})) == [
            TextDelta(text="one"),
            ReplyEnd(finish_reason="length"),
        ]
