"""What litellm alone can do: other wire formats, and its own ways."""

import contextlib

import pytest
import pytest_asyncio

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.litellm import LiteLLMProvider, ensure_loaded
from ai_assistant.providers.reasoning import reasoning_options
from tests.providers.conftest import failure, whole

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARKED = [
    {
        "type": "text",
        "text": "Same everywhere.",
        "cache_control": {"type": "ephemeral"},
    },
    {"type": "text", "text": "\n\nHere."},
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

    @pytest.mark.row("Z01")
    async def test_anthropic_is_given_a_budget_to_think(self, server, ask):
        model = "anthropic/claude-sonnet-4-5"
        options = reasoning_options({"MODEL": model, "REASONING": 8_000})
        said = "[[script:recording file=anthropic-thinking.sse]]"

        await whole(self.provider(server, model).stream(ask(said, options=options)))

        sent = server.log()[-1].request
        assert sent["thinking"] == {"type": "enabled", "budget_tokens": 8_000}
        assert sent["max_tokens"] == 16_000

    @pytest.mark.row("B01")
    @pytest.mark.parametrize(
        "stable", ["Same everywhere.", "Same everywhere.\n\nHere."]
    )
    async def test_anthropic_is_told_what_to_cache(self, server, ask, stable):
        """What its API documents: blocks, the last one to be kept with a mark."""
        text = "Same everywhere.\n\nHere."
        said = "[[script:recording file=anthropic-thinking.sse]]"
        request = ask(said, stable_chars=len(stable))
        request.messages.insert(0, {"role": "system", "content": text})

        model = "anthropic/claude-sonnet-4-5"
        await whole(self.provider(server, model).stream(request))

        marked, *others = server.log()[-1].request["system"]
        mark = {"type": "ephemeral"}
        assert marked == {"type": "text", "text": stable, "cache_control": mark}
        rest = text.removeprefix(stable)
        assert others == ([{"type": "text", "text": rest}] if rest else [])
        assert request.messages[0]["content"] == text

    CONVERSE = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    OF_BEDROCK = (
        CONVERSE,
        "bedrock/eu-central-1/anthropic.claude-3-7-sonnet-20250219-v1:0",
        "bedrock/converse/global.anthropic.claude-haiku-4-5-20251001-v1:0",
    )

    @pytest.mark.row("B01")
    @pytest.mark.parametrize("model", OF_BEDROCK)
    async def test_bedrock_is_told_what_to_cache(self, server, ask, model):
        """Its Converse API takes a block of its own behind what is kept."""
        sent = await self.marked(server, ask, model)

        assert sent["system"] == [
            {"text": "Same everywhere."},
            {"cachePoint": {"type": "default"}},
            {"text": "\n\nHere."},
        ]

    @pytest.mark.row("B01")
    async def test_bedrock_is_told_in_the_form_of_anthropic(self, server, ask):
        """What its older API documents: a Claude of it takes Anthropic's own form."""
        model = f"bedrock/invoke/{self.CONVERSE.removeprefix('bedrock/')}"

        sent = await self.marked(server, ask, model)

        assert sent["system"] == MARKED

    @pytest.mark.row("B01")
    async def test_vertex_is_told_what_to_cache(self, server, ask, token_of_google):
        sent = await self.marked(server, ask, "vertex_ai/claude-sonnet-4-5@20250929")

        assert sent["anthropic_version"] == "vertex-2023-10-16"
        assert sent["system"] == MARKED

    @pytest.fixture
    def token_of_google(self, monkeypatch):
        """A token that Google's own package would fetch from its server."""
        from litellm.llms.vertex_ai.vertex_llm_base import VertexBase

        monkeypatch.setattr(
            VertexBase, "_ensure_access_token", lambda *_args, **_options: ("t", "shop")
        )

    async def marked(self, server, ask, model):
        """Return the request that a server gets for a prompt with a stable beginning."""
        said = "[[script:recording file=anthropic-thinking.sse]]"
        # Of the two each takes its own.
        options = {"aws_region_name": "eu-central-1", "vertex_location": "europe-west1"}
        own = "aws_region_name" if model.startswith("bedrock") else "vertex_location"
        request = ask(
            said, stable_chars=len("Same everywhere."), options={own: options[own]}
        )
        text = "Same everywhere.\n\nHere."
        request.messages.insert(0, {"role": "system", "content": text})
        before = len(server.log())
        with contextlib.suppress(ModelError):  # the answer is in another's form
            await whole(self.provider(server, model).stream(request))
        return server.log()[before].request

    @pytest.mark.parametrize(
        ("model", "stable_chars", "options"),
        [
            ("openai/gpt-4o", 4, {}),
            ("bedrock/amazon.nova-pro-v1:0", 4, {"aws_region_name": "eu-central-1"}),
            ("anthropic/claude-sonnet-4-5", 0, {}),
            (
                "anthropic/claude-sonnet-4-5",
                4,
                {
                    "cache_control_injection_points": [
                        {"location": "message", "index": 1}
                    ]
                },
            ),
        ],
    )
    async def test_nobody_else_gets_a_mark(
        self, server, ask, model, stable_chars, options
    ):
        said = "[[script:recording file=anthropic-thinking.sse]]"
        provider = self.provider(server, model)
        if model.startswith("openai"):
            said, provider.profile["API_BASE"] = "Hello", server.base
        request = ask(said, stable_chars=stable_chars, options=options)
        request.messages.insert(0, {"role": "system", "content": "Same. Here."})

        before = len(server.log())
        with contextlib.suppress(ModelError):  # the answer is in another's form
            await whole(provider.stream(request))

        sent = server.log()[before].request
        system = sent.get("system") or sent["messages"][0]["content"]
        assert "cache_control" not in str(system)
        assert "cachePoint" not in str(system)
        assert "Same. Here." in str(system)

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
