"""What litellm alone can do: other wire formats, and its own ways."""

import pytest
import pytest_asyncio

from ai_assistant.providers.litellm import LiteLLMProvider, ensure_loaded
from tests.providers.conftest import failure, whole
from tests.providers.test_providers import QUIET

pytestmark = [
    pytest.mark.filterwarnings(QUIET),
    pytest.mark.asyncio(loop_scope="module"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def _connections_are_closed():
    litellm = await ensure_loaded()
    yield
    await litellm.close_litellm_async_clients()


async def test_source_is_iterated_once(monkeypatch, server, ask):
    from openai import AsyncStream

    begun = []
    iterate = AsyncStream.__aiter__
    monkeypatch.setattr(
        AsyncStream, "__aiter__", lambda self: begun.append(1) or iterate(self)
    )

    provider = LiteLLMProvider({"MODEL": "openai/scripted", "API_BASE": server.base})

    reply = await whole(provider.stream(ask("[[script:hello]]")))

    assert reply.text == "Hello there, how can this help you?"
    assert begun == [1]


@pytest.mark.parametrize(
    ("model", "detail"),
    [
        ("anthropic/claude-sonnet-4-5", "Not set: ANTHROPIC_API_KEY."),
        ("no-such-vendor/x", "LLM Provider NOT provided"),
    ],
)
@pytest.mark.row("V02")
async def test_what_is_missing(monkeypatch, ask, model, detail):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    error, _ = await failure(LiteLLMProvider({"MODEL": model}).stream(ask("hello")))

    assert (error.code, error.retryable) == ("not_configured", False)
    assert detail in error.detail


class TestRecordings:
    """Wire formats as the providers document them."""

    async def test_anthropic_thinking_and_calls(self, server, ask):
        reply = await self.play(server, ask, "anthropic/claude-sonnet-4-5")

        assert reply.reasoning == "The person wants the weather."
        assert reply.text == "Let me look."
        assert [(c.provider_id, c.arguments_text) for c in reply.calls] == [
            ("toolu_01", '{"city": "Zürich"}'),
            ("toolu_02", '{"city": "Bern"}'),
        ]
        assert reply.usage.cached_tokens == 300

    @pytest.mark.row("V05")
    async def test_anthropic_signed_thoughts_are_kept(self, server, ask):
        reply = await self.play(server, ask, "anthropic/claude-sonnet-4-5")

        assert reply.provider_fields == {
            "thinking_blocks": [
                {
                    "type": "thinking",
                    "thinking": "The person wants the weather.",
                    "signature": "c2lnbmVkLXRob3VnaHQ=",
                },
                {"type": "redacted_thinking", "data": "aGlkZGVu"},
            ]
        }

    @pytest.mark.row("V05")
    async def test_signed_thoughts_are_sent_back(self, server, ask):
        model = "anthropic/claude-sonnet-4-5"
        reply = await self.play(server, ask, model)
        call = reply.calls[0]
        function = {"name": call.name, "arguments": call.arguments_text}
        request = ask("[[script:recording file=anthropic-thinking.sse]]")
        request.messages.extend(
            [
                {
                    "role": "assistant",
                    "content": reply.text,
                    "tool_calls": [
                        {
                            "id": call.provider_id,
                            "type": "function",
                            "function": function,
                            **call.provider_fields,
                        }
                    ],
                    **reply.provider_fields,
                },
                {"role": "tool", "tool_call_id": call.provider_id, "content": "Rain"},
            ]
        )

        await whole(self.provider(server, model).stream(request))

        said = server.log()[-1].request["messages"][1]["content"]
        assert said[:2] == reply.provider_fields["thinking_blocks"]

    @pytest.mark.row("V05")
    async def test_gemini_signature_of_a_call_is_kept(self, server, ask):
        reply = await self.play(server, ask, "gemini/gemini-2.5-flash")

        assert [call.arguments_text for call in reply.calls] == [
            '{"city": "Zürich"}',
            '{"city": "Bern"}',
        ]
        assert reply.calls[0].provider_fields == {
            "provider_specific_fields": {"thought_signature": "c2lnLW9uZQ=="}
        }

    @pytest.mark.parametrize(
        ("file", "code"),
        [("anthropic-cut", "cut"), ("anthropic-overloaded", "provider_down")],
    )
    async def test_anthropic_breaks_off(self, server, ask, file, code):
        provider = self.provider(server, "anthropic/claude-sonnet-4-5")

        error, said = await failure(
            provider.stream(ask(f"[[script:recording file={file}.sse]]"))
        )

        assert (error.code, error.retryable, said) == (code, False, "Half an ans")

    FILES = {  # noqa: RUF012 - a constant
        "anthropic/claude-sonnet-4-5": "anthropic-thinking",
        "gemini/gemini-2.5-flash": "gemini-signature",
    }

    async def play(self, server, ask, model):
        said = f"[[script:recording file={self.FILES[model]}.sse]]"
        return await whole(self.provider(server, model).stream(ask(said)))

    def provider(self, server, model):
        return LiteLLMProvider(
            {"MODEL": model, "API_BASE": server.url, "API_KEY": "sk-of-a-test"}
        )
