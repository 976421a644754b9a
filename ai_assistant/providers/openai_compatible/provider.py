"""
The provider for OpenAI and for all servers that speak its chat completions.

It does what litellm does for them, with a tenth of its time and memory: HTTP by
aiohttp, JSON by orjson.
"""

import asyncio
import io
import json
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any

import ai_assistant
from ai_assistant.exceptions import ModelError
from ai_assistant.providers import price_list
from ai_assistant.providers.errors import without_key
from ai_assistant.providers.openai_compatible import connections
from ai_assistant.providers.openai_compatible.connections import (
    USED_BEFORE,
    Library,
    Pool,
)
from ai_assistant.providers.openai_compatible.errors import (
    refusal,
    text_of,
    transport_error,
)
from ai_assistant.providers.openai_compatible.servers import (
    THINKS_ON,
    Body,
    Endpoint,
    Learned,
    find_endpoint,
    quirk_behind,
)
from ai_assistant.providers.openai_compatible.stream import ReplyReader
from ai_assistant.providers.prices import has_prices
from ai_assistant.types import ModelChunk, ModelRequest, Provider, Usage

if TYPE_CHECKING:
    import aiohttp

logger = logging.getLogger("ai_assistant")

LINGER_S = 1.0  # what may follow a finish reason: usage and the end
DRAIN_S = 0.1  # what may follow the end, before the connection is given up
READ_SPACING_S = 0.03  # between small reads; text is shown less often than that
SMALL_BYTES = 4096  # of a read; a larger one is of a flood, which is read at once
WRONG = (400, 422, 500)  # with which servers speak of the request itself
ERROR_BYTES = 64 * 1024
LARGE_BYTES = 1024 * 1024  # of a request; more is written piece by piece
MOST_QUIRKS = 5  # of one server, learned within one call
MOST_LEARNED = 200  # pairs of server and model
# OPTIONS that are not fields of the request.
EXTRA_HEADERS, EXTRA_BODY = "extra_headers", "extra_body"


class OpenAICompatibleProvider(Provider):
    """
    Asks a server that speaks OpenAI's chat completions.

    A profile has MODEL (a model string as litellm has it), API_BASE, API_KEY and
    OPTIONS (fields of the request; `extra_headers` are sent as such); what a request
    says comes first.
    """

    @classmethod
    def warm_up(cls) -> None:
        """Begin to import what is needed; returns at once."""
        connections.LIBRARY.start()

    async def ready(self) -> None:
        """Wait until it is imported; that takes a quarter of a second."""
        await self._library(self.profile.get("MODEL", ""))

    def price_usd(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        """Return what a call costs by litellm's list; None if that does not say."""
        usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
        return self._cost_usd(self.profile.get("MODEL", ""), usage)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelChunk, None]:
        """Yield the chunks of one reply; closing closes the connection."""
        model = request.model or self.profile.get("MODEL", "")
        endpoint = self._endpoint(model, request)
        options = {**self.profile.get("OPTIONS", {}), **request.options}
        library = await self._library(model)
        call = _Call(library, endpoint, options)
        reader = call.reader
        try:
            async with call.answer(_body(endpoint.model, request, options)) as answer:
                reader.expect(answer.content_type)
                pace = _ReadPace()
                while data := await _next_read(answer.content, reader):
                    for chunk in reader.read(data):
                        yield chunk
                    # The first text, and the end, are passed on at once.
                    if reader.spoke and not reader.finish_reason:
                        await pace.after(data)
                for chunk in reader.end():
                    yield chunk
                _check_whole(answer, reader)
        except ModelError as error:
            raise call.without_secrets(error) from error.__cause__
        except (library.aiohttp.ClientError, OSError, ValueError) as error:
            fault = transport_error(error, aiohttp=library.aiohttp, spoke=reader.spoke)
            raise call.without_secrets(fault) from error
        yield reader.reply_end(lambda usage: self._cost_usd(model, usage))

    def _endpoint(self, model: str, request: ModelRequest) -> Endpoint:
        own_base = self.profile.get("API_BASE") or ""
        base = request.api_base or own_base
        key = request.api_key
        if not key and base == own_base:  # it was given for no other server
            key = self.profile.get("API_KEY") or ""
        return find_endpoint(model, base=base, key=key)

    def _cost_usd(self, model: str, usage: Usage) -> Decimal | None:
        if has_prices(self.profile):
            return None  # whoever stores the usage goes by those
        facts = price_list.facts_of(model)
        return facts.cost_usd(usage) if facts else None

    async def _library(self, model: str) -> Library:
        """Return what was imported; whatever takes time is done in a thread."""
        library = await connections.ensure_loaded()
        if model not in _looked_up and not has_prices(self.profile):
            await asyncio.to_thread(price_list.facts_of, model)
            _looked_up.add(model)
        return library


_looked_up: set[str] = set()  # models, in the price list
_learned: OrderedDict[tuple[str, str], tuple[Learned, ...]] = OrderedDict()


def _body(model: str, request: ModelRequest, options: Mapping[str, Any]) -> Body:
    body: Body = {
        "model": model,
        "messages": request.messages,
        "stream_options": {"include_usage": True},
        **{name: value for name, value in options.items() if value is not None},
        **(options.get(EXTRA_BODY) or {}),
        "stream": True,
    }
    if request.tools:
        body["tools"] = request.tools
    if options.get("stream_options", body) is None:
        del body["stream_options"]
    body.pop(EXTRA_BODY, None)
    body.pop(EXTRA_HEADERS, None)
    return body


def _dumped(body: Body) -> bytes:
    try:
        return json.dumps(body).encode()
    except (TypeError, ValueError) as error:
        raise ModelError(
            "not_configured", f"The OPTIONS cannot be sent as JSON: {error}"
        ) from error


class _Call:
    """One call of a model: a request, or several until the server takes it."""

    def __init__(
        self, library: Library, endpoint: Endpoint, options: Mapping[str, Any]
    ) -> None:
        self.library = library
        self.endpoint = endpoint
        own_headers = options.get(EXTRA_HEADERS) or {}
        self._secrets = (endpoint.key, *map(str, own_headers.values()))
        self.headers = {
            "Authorization": f"Bearer {endpoint.key}",
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
            "Accept-Encoding": "identity",  # what is packed comes late
            "User-Agent": f"ai-assistant/{ai_assistant.__version__}",
            **own_headers,
        }
        self.who = (endpoint.url, endpoint.model)
        keeps = any(quirk is THINKS_ON for quirk, _ in _learned.get(self.who, ()))
        self.reader = ReplyReader(library.loads, keeps_thoughts=keeps)

    @asynccontextmanager
    async def answer(self, body: Body) -> AsyncIterator["aiohttp.ClientResponse"]:
        """Yield the server's answer. Raise ModelError if that is a refusal."""
        for quirk, name in _learned.get(self.who, ()):
            body = quirk.change(body, name)
        pool = await connections.pool_here(self.library)
        tries = MOST_QUIRKS
        while True:
            async with await self._post(pool, body) as response:
                if response.status < 300:
                    yield response
                    return
                said = text_of(await _read_all(response.content, ERROR_BYTES))
            learned = quirk_behind(said, body) if response.status in WRONG else None
            tries -= 1
            if learned is None or not tries:
                raise refusal(response.status, response.headers, said)
            body = self._learn(*learned)

    def without_secrets(self, error: ModelError) -> ModelError:
        """Return `error` without the key, and without what the site's headers hold."""
        return reduce(without_key, self._secrets, error)

    async def _post(self, pool: Pool, body: Body) -> "aiohttp.ClientResponse":
        """Send a request; once more for each open connection that has ended by now."""
        while True:
            connection: dict[str, bool] = {}
            try:
                return await pool.session.post(
                    self.endpoint.url,
                    data=self._payload(body),
                    headers=self.headers,
                    proxy=pool.proxy(self.endpoint.url),
                    allow_redirects=False,
                    trace_request_ctx=connection,
                )
            except (
                self.library.aiohttp.ServerDisconnectedError,
                self.library.aiohttp.ClientOSError,
            ):
                if not connection.get(USED_BEFORE):
                    raise

    def _payload(self, body: Body) -> bytes | io.BytesIO:
        try:
            data = self.library.dumps(body)
        except TypeError:  # a rare number or text, or what is neither
            data = _dumped(body)
        return data if len(data) < LARGE_BYTES else io.BytesIO(data)

    def _learn(self, learned: Learned, body: Body) -> Body:
        quirk, name = learned
        known = _learned.pop(self.who, ())
        _learned[self.who] = (*known, learned)
        if len(_learned) > MOST_LEARNED:
            _learned.popitem(last=False)
        what = f"{quirk.name} ({name})" if name else quirk.name
        logger.info("model %s: %s, from now on", self.endpoint.model, what)
        return body


class _ReadPace:
    """
    Lets text gather that comes in many small pieces.

    All that is done for a piece on its way is then done once for several.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._next_at = 0.0

    async def after(self, data: bytes) -> None:
        """Wait, if a small read came too soon after another."""
        wait_s = self._next_at - self._loop.time()
        if wait_s > 0 and len(data) < SMALL_BYTES:
            await asyncio.sleep(wait_s)
        self._next_at = self._loop.time() + READ_SPACING_S


async def _next_read(content: "aiohttp.StreamReader", reader: ReplyReader) -> bytes:
    """Return what has come; do not wait long for what follows the finish reason."""
    if not (reader.finish_reason or reader.is_done):
        return await content.readany()
    try:
        async with asyncio.timeout(DRAIN_S if reader.is_done else LINGER_S):
            while not content.at_eof():
                data = await content.readany()
                if not reader.is_done:
                    return data
    except TimeoutError:
        pass
    return b""


async def _read_all(content: "aiohttp.StreamReader", most: int) -> bytes:
    """Return a whole body, or the first `most` bytes of it."""
    parts: list[bytes] = []
    while (left := most - sum(map(len, parts))) > 0:
        if not (data := await content.read(left)):
            break
        parts.append(data)
    return b"".join(parts)


def _check_whole(answer: "aiohttp.ClientResponse", reader: ReplyReader) -> None:
    """Raise ModelError if the reply has no end."""
    if reader.is_whole:
        return
    kind = answer.headers.get("Content-Type", "")
    if kind and "event-stream" not in kind and "json" not in kind:
        raise ModelError("malformed", f"The answer is of type {kind!r}.")
    raise ModelError("cut", "no finish reason", retryable=not reader.spoke)
