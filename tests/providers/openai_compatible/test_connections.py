"""Pools, proxies, whom to trust, and that a key goes nowhere else."""

import asyncio
import contextlib
import gc
import ssl
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ai_assistant.providers import warmup
from ai_assistant.providers.openai_compatible import connections
from ai_assistant.providers.openai_compatible.connections import proxy_for
from ai_assistant.providers.openai_compatible.provider import OpenAICompatibleProvider
from ai_assistant.providers.warmup import Warmup
from tests.providers.conftest import failure, whole

KEY = "sk-0123456789"
SAID = (
    b'data: {"choices": [{"delta": {"content": "Hi."}, "finish_reason": "stop"}]}\n\n'
    b"data: [DONE]\n\n"
)
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nSet-Cookie: a=b\r\n"
    b"Content-Length: %d\r\n\r\n%s"
) % (len(SAID), SAID)


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in (*connections.CA_FILES, "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def load_anew(monkeypatch):
    library = Warmup(connections._load, slow=False)
    monkeypatch.setattr(connections, "LIBRARY", library)
    monkeypatch.setattr(warmup, "_started", [])


class Listener:
    """A server that answers each request with the same bytes, and notes them."""

    def __init__(self, answer=ANSWER, context=None, most=100):
        self.answer = answer
        self.most = most  # requests of one connection; the next one is not answered
        self.context = context
        self.requests = []
        self.connections = 0
        self.tasks = set()

    async def __aenter__(self):
        self.server = await asyncio.start_server(
            self.serve, "127.0.0.1", 0, ssl=self.context
        )
        self.port = self.server.sockets[0].getsockname()[1]
        self.base = f"http{'s' if self.context else ''}://localhost:{self.port}/v1"
        return self

    async def __aexit__(self, *_):
        self.server.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def serve(self, reader, writer):
        self.connections += 1
        self.tasks.add(asyncio.current_task())
        gone = (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError)
        with contextlib.suppress(*gone):
            for _ in range(self.most):
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                size = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
                await reader.readexactly(size)
                self.requests.append(head)
                writer.write(self.answer)
                await writer.drain()
            await reader.readuntil(b"\r\n\r\n")
        writer.close()


def provider_at(base, **more):
    return OpenAICompatibleProvider(
        {"MODEL": "openai/x", "API_BASE": base, "API_KEY": KEY, **more}
    )


class TestPools:
    async def test_connection_is_used_again(self, ask):
        async with Listener() as listener:
            for _ in range(3):
                await whole(provider_at(listener.base).stream(ask("Hi")))

        assert (listener.connections, len(listener.requests)) == (1, 3)

    @pytest.mark.parametrize("side_by_side", [1, 3])
    async def test_connection_that_has_ended_is_left(self, ask, side_by_side):
        async with Listener(most=1) as listener:
            provider = provider_at(listener.base)
            for _ in range(2):
                replies = await asyncio.gather(
                    *(whole(provider.stream(ask("Hi"))) for _ in range(side_by_side))
                )

        assert [reply.text for reply in replies] == ["Hi."] * side_by_side
        assert listener.connections == 2 * side_by_side

    async def test_new_connection_that_ends_is_an_error(self, ask):
        async with Listener(most=0) as listener:
            error, _ = await failure(provider_at(listener.base).stream(ask("Hi")))

        assert (error.code, error.retryable) == ("unreachable", True)
        assert listener.connections == 1

    async def test_no_cookie_is_kept(self, ask):
        async with Listener() as listener:
            for _ in range(2):
                await whole(provider_at(listener.base).stream(ask("Hi")))

        assert "cookie" not in listener.requests[1].lower()

    @pytest.mark.filterwarnings("error")
    def test_each_loop_closes_its_own(self, server, ask):
        async def once():
            await whole(provider_at(server.base).stream(ask("[[script:hello]]")))
            pool = connections._pools[asyncio.get_running_loop()]
            return pool.session

        before = set(connections._pools)
        sessions = [asyncio.run(once()) for _ in range(3)]
        gc.collect()

        assert len(set(sessions)) == 3
        assert all(session.closed for session in sessions)
        assert set(connections._pools) <= before

    # Of the transport that such a loop itself leaves open.
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    @pytest.mark.filterwarnings("ignore::ResourceWarning")
    def test_loop_that_closes_nothing_is_forgotten_by_the_next(self, server, ask):
        async def once():
            await whole(provider_at(server.base).stream(ask("[[script:hello]]")))

        rude = asyncio.new_event_loop()
        rude.run_until_complete(once())
        rude.close()
        assert rude in connections._pools
        asyncio.run(once())
        forgotten = rude not in connections._pools
        del rude
        gc.collect()

        assert forgotten

    @pytest.mark.servers
    def test_end_of_a_process_is_silent(self, server, request):
        code = f"""
import asyncio
from ai_assistant.providers.openai_compatible.provider import OpenAICompatibleProvider
from ai_assistant.types import ModelRequest
asked = [{{"role": "user", "content": "[[script:hello]]"}}]
provider = OpenAICompatibleProvider({{"MODEL": "openai/x", "API_BASE": {server.base!r}}})
async def once():
    async for _ in provider.stream(ModelRequest(model="", messages=asked)): pass
loop = asyncio.new_event_loop()
loop.run_until_complete(once())
import sys
assert "litellm" not in sys.modules
"""
        done = subprocess.run(
            [sys.executable, "-W", "default", "-c", code],
            cwd=request.config.rootpath,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

        assert (done.returncode, done.stdout) == (0, "")
        assert "Unclosed" not in done.stderr
        assert "aiohttp" not in done.stderr


class TestKey:
    async def test_redirect_is_not_followed(self, ask):
        async with Listener() as elsewhere:
            to = f"{elsewhere.base}/chat/completions?token=secret"
            answer = f"HTTP/1.1 307 x\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
            async with Listener(answer.encode()) as listener:
                error, _ = await failure(provider_at(listener.base).stream(ask("Hi")))

        assert (error.code, error.retryable) == ("unreachable", False)
        assert "API_BASE" in error.detail
        assert "secret" not in error.detail
        assert elsewhere.requests == []

    async def test_netrc_does_not_go_before_it(self, ask, tmp_path, monkeypatch):
        netrc = tmp_path / "netrc"
        netrc.write_text("machine localhost login a password b\n")
        monkeypatch.setenv("NETRC", str(netrc))
        async with Listener() as listener:
            await whole(provider_at(listener.base).stream(ask("Hi")))

        assert f"Authorization: Bearer {KEY}" in listener.requests[0]

    async def test_key_of_the_profile_goes_to_its_server_alone(self, ask):
        request = ask("Hi")
        async with Listener() as other:
            request = ask("Hi", api_base=other.base)
            await whole(provider_at("http://127.0.0.1:1/v1").stream(request))

        assert KEY not in other.requests[0]

    async def test_header_of_the_site_is_not_told(self, ask):
        said = b"Wrong key sk-in-a-header."
        refused = b"HTTP/1.1 401 x\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said)
        options = {"extra_headers": {"api-key": "sk-in-a-header"}}
        async with Listener(refused) as listener:
            provider = provider_at(listener.base, OPTIONS=options)
            error, _ = await failure(provider.stream(ask("Hi")))

        assert (error.code, error.detail) == ("bad_key", "401: Wrong key [key].")

    async def test_key_headers_of_the_site_are_sent(self, ask):
        options = {"extra_headers": {"X-Title": "Shop"}, "extra_body": {"top_k": 1}}
        async with Listener() as listener:
            await whole(provider_at(listener.base, OPTIONS=options).stream(ask("Hi")))

        assert "X-Title: Shop" in listener.requests[0]


class TestProxies:
    @pytest.mark.parametrize(
        ("environment", "url", "proxy"),
        [
            ({}, "https://api.openai.com/v1", None),
            ({"HTTPS_PROXY": "http://p:3128"}, "https://a.example", "http://p:3128"),
            ({"https_proxy": "p:3128"}, "https://a.example", "http://p:3128"),
            ({"HTTPS_PROXY": "http://p:3128"}, "http://a.example", None),
            ({"ALL_PROXY": "http://p:3128"}, "http://a.example", "http://p:3128"),
            (
                {"ALL_PROXY": "http://p:3128", "NO_PROXY": "a.example,b"},
                "http://a.example/v1",
                None,
            ),
        ],
    )
    def test_proxies_of_the_environment(self, monkeypatch, environment, url, proxy):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)

        assert proxy_for(url) == proxy

    async def test_proxies_is_asked(self, ask, monkeypatch):
        async with Listener() as proxy:
            monkeypatch.setenv("http_proxy", f"http://localhost:{proxy.port}")
            reply = await whole(provider_at("http://models.test/v1").stream(ask("Hi")))

        assert reply.text == "Hi."
        assert proxy.requests[0].startswith("POST http://models.test/v1/chat/comp")

    async def test_password_is_not_told(self, ask, monkeypatch):
        refused = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"
        async with Listener(refused) as proxy:
            monkeypatch.setenv("https_proxy", f"http://u:secret@localhost:{proxy.port}")
            with contextlib.suppress(ValueError):
                error, _ = await failure(
                    provider_at("https://models.test/v1").stream(ask("Hi"))
                )

        assert "secret" not in error.detail

    async def test_proxies_of_another_kind_is_told(self, ask, monkeypatch):
        monkeypatch.setenv("ALL_PROXY", "socks5://localhost:1")

        error, _ = await failure(provider_at("http://models.test").stream(ask("Hi")))

        assert error.code == "not_configured"
        assert "'socks5'" in error.detail


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Return the files of a certificate for localhost that nobody else has signed."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    form = serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, form, serialization.NoEncryption())
    )
    (folder / "cert.pem").write_bytes(signed.public_bytes(pem))
    return folder


class TestTrust:
    @pytest.fixture
    def listener(self, certificate):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
        return Listener(context=context)

    @pytest.fixture(autouse=True)
    def read_anew(self, load_anew):
        """Whom to trust is read when the library is loaded."""

    @pytest.mark.parametrize("name", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"])
    async def test_trust_by_the_environment(
        self, ask, listener, certificate, monkeypatch, name
    ):
        monkeypatch.setenv(name, str(certificate / "cert.pem"))
        async with listener:
            reply = await whole(provider_at(listener.base).stream(ask("Hi")))

        assert reply.text == "Hi."

    async def test_nobody_else(self, ask, listener):
        async with listener:
            error, _ = await failure(provider_at(listener.base).stream(ask("Hi")))

        assert error.code == "unreachable"
        assert "certificate" in error.detail
        assert listener.requests == []


class TestMissing:
    async def test_package_is_named(self, ask, monkeypatch, load_anew):
        monkeypatch.setitem(sys.modules, "orjson", None)

        error, _ = await failure(provider_at("http://x/v1").stream(ask("Hi")))

        assert error.code == "not_configured"
        assert "pip install 'ai-assistant[openai]'" in error.detail
        assert warmup.state() == "failed"

    async def test_loading_is_not_told(self, load_anew):
        OpenAICompatibleProvider.warm_up()

        assert warmup.state() == "idle"
        await connections.ensure_loaded()
