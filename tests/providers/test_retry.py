import pytest

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.retry import next_wait_s, with_retries
from ai_assistant.testing import ScriptedProvider
from ai_assistant.types import ModelRequest, TextDelta

REQUEST = ModelRequest(model="m", messages=[])
DOWN = ModelError("provider_down", retryable=True)


def tried(provider, *, retries=2, max_delay_s=1.0):
    return with_retries(
        lambda: provider.stream(REQUEST),
        retries=retries,
        delay_s=0.001,
        max_delay_s=max_delay_s,
    )


async def said(stream):
    return "".join([c.text async for c in stream if isinstance(c, TextDelta)])


class TestWithRetries:
    @pytest.mark.row("V08")
    async def test_with_retries_asks_again(self):
        provider = ScriptedProvider([DOWN, DOWN, "At last."])

        assert await said(tried(provider)) == "At last."
        assert len(provider.requests) == 3

    @pytest.mark.row("V08")
    async def test_with_retries_gives_up(self):
        provider = ScriptedProvider([DOWN, DOWN, DOWN, "Too late."])

        with pytest.raises(ModelError, match="provider_down"):
            await said(tried(provider))
        assert len(provider.requests) == 3

    @pytest.mark.row("V08")
    @pytest.mark.parametrize("code", ["bad_request", "bad_key", "no_access"])
    async def test_with_retries_not_when_it_cannot_help(self, code):
        provider = ScriptedProvider([ModelError(code), "Never."])

        with pytest.raises(ModelError, match=code):
            await said(tried(provider))
        assert len(provider.requests) == 1

    @pytest.mark.row("V08")
    async def test_with_retries_not_after_the_first_token(self):
        provider = ScriptedProvider([["Half", DOWN], "Never."])

        with pytest.raises(ModelError, match="provider_down"):
            await said(tried(provider))
        assert len(provider.requests) == 1

    async def test_with_retries_waits_as_long_as_the_provider_asks(self):
        slow = ModelError("rate_limited", retry_after_s=0.01, retryable=True)
        provider = ScriptedProvider([slow, "Now."])

        assert await said(tried(provider)) == "Now."

    async def test_with_retries_does_not_wait_too_long(self):
        slow = ModelError("rate_limited", retry_after_s=60.0, retryable=True)
        provider = ScriptedProvider([slow, "Never."])

        with pytest.raises(ModelError) as caught:
            await said(tried(provider, max_delay_s=20.0))
        assert caught.value.retry_after_s == 60.0


class TestNextWait:
    @pytest.mark.parametrize(
        ("attempt", "least", "most"), [(0, 0.25, 0.5), (1, 0.5, 1.0), (3, 2.0, 4.0)]
    )
    def test_next_wait_doubles_and_spreads(self, attempt, least, most):
        waits = {next_wait_s(DOWN, attempt=attempt, delay_s=0.5) for _ in range(50)}

        assert all(least <= wait <= most for wait in waits)
        assert len(waits) > 1

    def test_next_wait_is_what_the_provider_asks(self):
        error = ModelError("rate_limited", retry_after_s=7.0)

        assert next_wait_s(error, attempt=5, delay_s=0.5) == 7.0
