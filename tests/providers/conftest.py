"""The model server, and both providers pointed at it."""

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.litellm import LiteLLMProvider
from ai_assistant.providers.openai_compatible.provider import OpenAICompatibleProvider
from ai_assistant.providers.stream import ReplyBuilder
from ai_assistant.types import ModelChunk, ModelReply, ModelRequest, Provider, TextDelta
from tests.model_server import ModelServer


@pytest.fixture(scope="session")
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture(params=[LiteLLMProvider, OpenAICompatibleProvider])
def provider_class(request: pytest.FixtureRequest) -> type[Provider]:
    return request.param


@pytest.fixture
def provider(provider_class: type[Provider], server: ModelServer) -> Provider:
    return provider_class({"MODEL": "openai/scripted", "API_BASE": server.base})


@pytest.fixture
def ask() -> Callable[[str], ModelRequest]:
    def make(said: str, **more: object) -> ModelRequest:
        messages = [{"role": "user", "content": said}]
        return ModelRequest(model="", messages=messages, **more)

    return make


async def whole(stream: AsyncIterator[ModelChunk]) -> ModelReply:
    """Return the reply that `stream` tells."""
    builder = ReplyBuilder("m1")
    async for chunk in stream:
        builder.add(chunk)
    return builder.reply(reasoning_s=0.0)


async def failure(stream: AsyncIterator[ModelChunk]) -> tuple[ModelError, str]:
    """Return the error in which `stream` ends, and the text before it."""
    builder = ReplyBuilder("m1")
    said = ""
    try:
        async for chunk in stream:
            builder.add(chunk)
            said += chunk.text if isinstance(chunk, TextDelta) else ""
        builder.reply()
    except ModelError as error:
        return error, said
    pytest.fail(f"The stream ended well. It said {said!r}.")
