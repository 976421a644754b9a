"""Both providers, over HTTP, against a real server: they do the same."""

import asyncio
import contextlib
import time
from decimal import Decimal

import pytest
import pytest_asyncio

from ai_assistant.providers.litellm import ensure_loaded
from ai_assistant.providers.openai_compatible.provider import (
    READ_SPACING_S,
    OpenAICompatibleProvider,
)
from ai_assistant.providers.retry import with_retries, with_timeouts
from ai_assistant.types import ReasoningDelta, ReplyEnd, TextDelta, Usage
from tests.providers.conftest import failure, whole

# One loop for all, as in a server: connections are kept between calls.
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def _connections_are_closed():
    litellm = await ensure_loaded()
    yield
    await litellm.close_litellm_async_clients()


class TestAnswers:
    async def test_text_comes_whole(self, provider, ask):
        reply = await whole(provider.stream(ask("[[script:hello]]")))

        assert reply.text == "Hello there, how can this help you?"
        assert reply.finish_reason == "stop"

    async def test_text_comes_in_pieces(self, server, provider, ask):
        text = "Hello there, how can this help you?"
        server.script("slow", [{"op": "text", "text": text, "rate": 100}])

        chunks = [c async for c in provider.stream(ask("[[script:slow]]"))]

        # One for each network read of the direct provider.
        assert 2 <= len([c for c in chunks if isinstance(c, TextDelta)]) <= 7
        assert [c for c in chunks if isinstance(c, ReplyEnd)] == chunks[-1:]

    async def test_quick_small_pieces_are_gathered(self, server, ask):
        words = "and so on " * 60
        ops = [{"op": "text", "text": f"First {words}", "rate": 400}]
        server.script("quick", ops)
        provider = OpenAICompatibleProvider(
            {"MODEL": "openai/scripted", "API_BASE": server.base}
        )

        began = time.monotonic()
        chunks = [c async for c in provider.stream(ask("[[script:quick]]"))]
        took_s = time.monotonic() - began

        texts = [c.text for c in chunks if isinstance(c, TextDelta)]
        assert "".join(texts) == f"First {words}"
        assert len(texts) <= 3 + took_s / READ_SPACING_S

    async def test_every_character_is_kept(self, server, provider, ask):
        text = "Zürich 🏔️\n\n    code\t|x|\r\n<b>&amp;</b> \\ \u2028 end  "
        server.script("odd", [{"op": "text", "text": text, "size": 3}])

        reply = await whole(provider.stream(ask("[[script:odd]]")))

        assert reply.text == text

    async def test_repeated_words_are_kept(self, server, provider, ask):
        server.script("rows", [{"op": "text", "text": "----" * 90, "size": 4}])

        reply = await whole(provider.stream(ask("[[script:rows]]")))

        assert reply.text == "----" * 90

    @pytest.mark.row("Z04")
    async def test_reasoning_is_apart(self, provider, ask):
        reply = await whole(provider.stream(ask("[[script:reasoning]]")))

        assert reply.reasoning == "The person greets. A greeting is due."
        assert reply.text == "Good day."

    async def test_reasoning_comes_first(self, server, provider, ask):
        both = {"content": "Yes.", "reasoning_content": "Hm."}
        server.script("both", [{"op": "delta", "delta": both}])

        chunks = [c async for c in provider.stream(ask("[[script:both]]"))]

        assert [type(c) for c in chunks] == [ReasoningDelta, TextDelta, ReplyEnd]

    async def test_usage(self, provider, ask):
        reply = await whole(provider.stream(ask("[[script:usage]]")))

        assert reply.usage == Usage(
            input_tokens=120, output_tokens=30, cached_tokens=100, reasoning_tokens=20
        )

    async def test_length_is_an_answer(self, provider, ask):
        reply = await whole(provider.stream(ask("[[script:length]]")))

        assert (reply.text, reply.finish_reason) == ("This is cut by the lim", "length")

    async def test_empty_choices_are_passed_over(self, provider, ask):
        reply = await whole(provider.stream(ask("[[script:empty-choices]]")))

        assert reply.text == "Still here."

    async def test_silence_after_the_end_is_left(self, provider, ask):
        reply = await whole(provider.stream(ask("[[script:hang-after-finish]]")))

        assert reply.text == "Whole."


ONE = [("call_0", "echo", '{"text": "hello"}')]
TWO = [
    ("call_0", "echo", '{"text": "first"}'),
    ("call_1", "echo", '{"text": "second"}'),
]


class TestCalls:
    @pytest.mark.parametrize(
        ("script", "calls"),
        [
            ("echo", ONE),
            ("split", [("call_0", "echo", '{"text": "hello, split"}')]),
            ("interleaved", TWO),
            ("same-index", TWO),
            ("duplicate-id", [TWO[0], ("call_0", *TWO[1][1:])]),
            ("no-id", [("", *ONE[0][1:])]),
            ("no-index", ONE),
            ("malformed-json", [("call_0", "echo", '{"text": "hel')]),
            ("not-an-object", [("call_0", "echo", "[1, 2]")]),
        ],
    )
    async def test_calls_as_the_model_said(self, provider, ask, script, calls):
        reply = await whole(provider.stream(ask(f"[[script:{script}]]")))

        assert [
            (call.provider_id, call.name, call.arguments_text) for call in reply.calls
        ] == calls
        assert reply.finish_reason == "tool_calls"

    async def test_two_hundred_at_once(self, provider, ask):
        reply = await whole(provider.stream(ask("[[script:many-calls]]")))

        assert [call.position for call in reply.calls] == list(range(200))
        assert reply.calls[199].arguments_text == '{"text": "199"}'

    async def test_text_and_call(self, provider, ask):
        reply = await whole(provider.stream(ask("[[script:text-and-call]]")))

        assert reply.text == "Let me look. "
        assert [call.name for call in reply.calls] == ["echo"]

    @pytest.mark.row("B03")
    async def test_tools_are_sent_and_nothing_else(self, server, provider, ask):
        function = {"name": "echo", "parameters": {"type": "object", "properties": {}}}
        tools = [{"type": "function", "function": function}]

        await whole(provider.stream(ask("[[script:hello]]", tools=tools)))

        assert server.log()[-1].request == {
            "model": "scripted",
            "messages": [{"role": "user", "content": "[[script:hello]]"}],
            "tools": tools,
            "stream": True,
            "stream_options": {"include_usage": True},
        }


class TestFailures:
    @pytest.mark.row("V08")
    @pytest.mark.parametrize(
        ("script", "code", "retryable", "said"),
        [
            ("bad-request", "bad_request", False, ""),
            ("too-long", "context_too_long", False, ""),
            ("refused", "content_refused", False, ""),
            ("filtered", "content_refused", False, ""),
            ("bad-key", "bad_key", False, ""),
            ("no-access", "no_access", False, ""),
            ("no-model", "no_model", False, ""),
            ("rate-limited", "rate_limited", True, ""),
            ("down", "provider_down", True, ""),
            ("overloaded", "provider_down", True, ""),
            ("drop", "unreachable", True, ""),
            ("nothing", "cut", True, ""),
            ("empty", "empty", False, ""),
            ("not-json", "malformed", False, ""),
            ("unfinished-call", "cut", False, ""),
            ("cut", "cut", False, "Half an answer, th"),
            ("abort", "cut", False, "Half an answer, th"),
            ("error-event", "provider_down", False, "Half an ans"),
            ("bad-utf8", "malformed", False, "Half an answer, "),
            ("malformed", "malformed", False, "Half an answer, "),
        ],
    )
    async def test_code_and_partial_text(
        self, provider, ask, script, code, retryable, said
    ):
        error, text = await failure(provider.stream(ask(f"[[script:{script}]]")))

        assert (error.code, error.retryable, text) == (code, retryable, said)

    async def test_failures_says_when_to_come_back(self, provider, ask):
        error, _ = await failure(provider.stream(ask("[[script:rate-limited]]")))

        assert error.retry_after_s == 3600

    async def test_failures_asks_once_by_itself(self, server, provider, ask):
        before = len(server.log())

        await failure(provider.stream(ask("[[script:down]]")))

        assert len(server.log()) == before + 1

    async def test_refused_connection(self, provider_class, ask, unused_tcp_port):
        base = f"http://127.0.0.1:{unused_tcp_port}/v1"
        provider = provider_class({"MODEL": "openai/x", "API_BASE": base})

        error, _ = await failure(provider.stream(ask("hello")))

        assert (error.code, error.retryable) == ("unreachable", True)

    async def test_key_is_not_in_the_detail(self, provider_class, server, ask):
        key = "sk-0123456789"
        script = [{"op": "status", "status": 401, "message": f"Wrong key {key}."}]
        server.script("tells-key", script)
        provider = provider_class(
            {"MODEL": "openai/x", "API_BASE": server.base, "API_KEY": key}
        )

        error, _ = await failure(provider.stream(ask("[[script:tells-key]]")))

        assert error.code == "bad_key"
        assert "Wrong key [key]." in error.detail


class TestConfiguration:
    @pytest.fixture(autouse=True)
    def _no_keys(self, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    @pytest.mark.parametrize(
        ("profile", "detail"),
        [
            ({}, "The profile has no MODEL."),
            ({"MODEL": "openai/gpt-4o-mini"}, "Not set: OPENAI_API_KEY."),
        ],
    )
    @pytest.mark.row("V02")
    async def test_what_is_missing(self, provider_class, ask, profile, detail):
        error, _ = await failure(provider_class(profile).stream(ask("hello")))

        assert (error.code, error.retryable) == ("not_configured", False)
        assert detail in error.detail

    async def test_key_of_another_host_stays_here(
        self, server, provider, ask, monkeypatch
    ):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")

        await whole(provider.stream(ask("[[script:hello]]")))

        assert server.log()[-1].authorization == "Bearer none"

    async def test_request_goes_before_profile(self, provider_class, server, ask):
        profile = {
            "MODEL": "openai/one",
            "API_BASE": "http://127.0.0.1:1",
            "OPTIONS": {"temperature": 0.1, "max_tokens": 7},
        }
        request = ask("[[script:hello]]", api_base=server.base, api_key="sk-two")
        options = {"temperature": 0.9}

        await whole(
            provider_class(profile).stream(
                type(request)(
                    model="openai/two",
                    messages=request.messages,
                    api_base=request.api_base,
                    api_key=request.api_key,
                    options=options,
                )
            )
        )

        sent = server.log()[-1]
        assert sent.authorization == "Bearer sk-two"
        assert (sent.request["model"], sent.request["max_tokens"]) == ("two", 7)
        assert sent.request["temperature"] == 0.9


class TestClosing:
    async def test_closing_closes_the_connection(self, server, provider, ask):
        stream = provider.stream(ask("[[script:hang-after-text]]"))
        await anext(stream)

        await stream.aclose()

        assert (await ended(server)).outcome == "closed"

    @pytest.mark.parametrize("script", ["hang", "hang-after-text"])
    async def test_cancelling_closes_the_connection(
        self, server, provider, ask, script
    ):
        before = len(server.log())
        task = asyncio.create_task(whole(provider.stream(ask(f"[[script:{script}]]"))))
        await asyncio.to_thread(server.wait_begun, before)

        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

        assert task.cancelled()
        assert (await ended(server)).outcome == "closed"

    async def test_next_call_works_after_a_cancel(self, provider, ask):
        stream = provider.stream(ask("[[script:hang-after-text]]"))
        await anext(stream)
        await stream.aclose()

        assert (await whole(provider.stream(ask("[[script:hello]]")))).text


class TestPatience:
    """With the wrappers that the engine puts around every provider."""

    @pytest.mark.parametrize(
        ("script", "short", "code", "said"),
        [
            ("hang", {"first_byte_s": 2.0}, "first_byte_timeout", ""),
            ("hang-after-text", {"idle_s": 0.5}, "idle_timeout", "Half an answer, th"),
        ],
    )
    async def test_silence_closes_the_connection(
        self, server, provider, ask, script, short, code, said
    ):
        stream = provider.stream(ask(f"[[script:{script}]]"))

        limits = {"first_byte_s": 30.0, "idle_s": 30.0, "total_s": 60.0, **short}
        error, text = await failure(with_timeouts(stream, **limits))

        assert (error.code, text) == (code, said)
        assert (await ended(server)).outcome == "closed"

    @pytest.mark.row("V08")
    async def test_third_time_lucky(self, server, provider, ask):
        tag = type(provider).__name__
        request = ask(f"[[script:flaky#{tag}]]")

        reply = await whole(
            with_retries(
                lambda: provider.stream(request),
                retries=2,
                delay_s=0.01,
                max_delay_s=1.0,
            )
        )

        assert reply.text == "At last."
        assert [e.telling for e in server.log() if e.tag == tag] == [1, 2, 3]


async def ended(server):
    """Return the last request of the server's log once its end was noticed."""
    return await asyncio.to_thread(server.wait_ended)


class TestRecordings:
    """Wire formats as the servers document them."""

    @pytest.mark.row("V05")
    async def test_compatible_signature_of_a_call_is_kept(
        self, provider_class, server, ask
    ):
        reply = await self.play(provider_class, server, ask, "openai/gemini-3-pro")

        assert reply.calls[0].provider_fields == {
            "extra_content": {"google": {"thought_signature": "c2lnLW9uZQ=="}}
        }

    async def test_cost_by_the_price_list(self, provider_class, server, ask):
        reply = await self.play(provider_class, server, ask, "openai/gpt-4o-mini")

        assert reply.text == "Grüezi!"
        assert reply.usage.cost_usd == Decimal("0.00027")

    async def test_deepseek_reasoning(self, provider_class, server, ask):
        reply = await self.play(provider_class, server, ask, "openai/deepseek-reasoner")

        assert (reply.reasoning, reply.text) == ("First things first.", "Yes.")
        assert reply.usage.reasoning_tokens == 15

    async def test_llama_cpp(self, provider_class, server, ask):
        reply = await self.play(provider_class, server, ask, "openai/smollm2")

        assert (reply.text, reply.finish_reason) == ("Hello there! I'm here", "length")
        assert reply.usage == Usage(
            input_tokens=33, output_tokens=6, cached_tokens=24, cost_usd=None
        )

    FILES = {  # noqa: RUF012 - a constant
        "openai/gemini-3-pro": "openai-compatible-gemini",
        "openai/gpt-4o-mini": "openai-usage",
        "openai/deepseek-reasoner": "deepseek-reasoning",
        "openai/smollm2": "llama-cpp",
    }

    async def play(self, provider_class, server, ask, model):
        profile = {"MODEL": model, "API_BASE": server.base, "API_KEY": "sk-of-a-test"}
        said = f"[[script:recording file={self.FILES[model]}.sse]]"
        return await whole(provider_class(profile).stream(ask(said)))
