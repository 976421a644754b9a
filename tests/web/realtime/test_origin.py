import pytest
from django.middleware.csrf import CsrfViewMiddleware

from ai_assistant.web.realtime.origin import is_own_origin


def asked(
    origin: str | None,
    host: str = "testserver",
    *,
    scheme: str = "ws",
    **more: str,
) -> bool:
    headers = [(b"host", host.encode())]
    if origin is not None:
        headers.append((b"origin", origin.encode()))
    headers += [
        (name.replace("_", "-").encode(), value.encode())
        for name, value in more.items()
    ]
    return is_own_origin(headers, scheme=scheme)


@pytest.mark.row("X05")
class TestOrigin:
    @pytest.mark.parametrize(
        ("origin", "host"),
        [
            ("http://testserver", "testserver"),
            ("http://testserver:80", "testserver"),
            ("http://testserver", "testserver:80"),
            ("http://TestServer", "testserver"),
            ("HTTP://testserver", "TESTSERVER"),
            ("http://localhost:8000", "localhost:8000"),
            ("http://[::1]:8000", "[::1]:8000"),
            ("http://[::1]", "[::1]:80"),
            ("http://xn--bcher-kva.testserver", "xn--bcher-kva.testserver"),
            ("http://testserver.", "testserver."),
        ],
    )
    def test_origin_of_this_site_is_own(self, settings, origin, host):
        settings.ALLOWED_HOSTS = [".testserver", "localhost", "[::1]"]

        assert asked(origin, host)

    @pytest.mark.parametrize(
        ("origin", "is_own"),
        [
            ("https://testserver", True),
            ("https://testserver:443", True),
            ("https://testserver:80", False),
            ("http://testserver", False),
            ("http://testserver:443", False),
        ],
    )
    def test_origin_of_a_socket_over_tls_is_https(self, origin, is_own):
        assert asked(origin, scheme="wss") is is_own

    def test_a_proxy_may_call_a_socket_over_tls_wss(self, settings):
        settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

        assert asked("https://testserver", x_forwarded_proto="wss")
        assert not asked("https://testserver", x_forwarded_proto="ws")
        assert not asked("http://testserver", x_forwarded_proto="wss")

    @pytest.mark.parametrize(
        "origin",
        [
            None,
            "",
            "null",
            "file://",
            "http://evil.example",
            "http://evil.example/testserver",
            "http://testserver.evil.example",
            "http://evil.testserver",
            "http://testserver:8000",
            "http://testserver@evil.example",
            "http://evil.example#testserver",
            "https://testserver",
            "https://testserver:80",
            "http://testserver:443",
            "http://user@testserver",
            "http://user:word@testserver",
            "http://@testserver",
            "http://testserver#x",
            "http://testserver#",
            "http://testserver?x",
            "http://testserver?",
            "http://testserver.",
            "http://testserver:",
            "http://testserver:080",
            "http://test server",
            "http://\ttestserver",
            "http://testserver,http://evil.example",
            "http://b\u00fccher.testserver",
            "http://testserver/",
            "http://testserver:99999999",
            "http://testserver:x",
            "http://[::1",
            "ftp://testserver",
            "testserver",
            "//testserver",
            "http://",
            "http://testserver\x00.evil.example",
        ],
    )
    def test_origin_of_another_site_is_not(self, origin):
        assert not asked(origin)

    @pytest.mark.parametrize("host", ["", "evil.example", "testserver:x", "a b"])
    def test_origin_needs_a_host_that_the_site_allows(self, host):
        assert not asked(f"http://{host}", host)

    @pytest.mark.parametrize(
        ("option", "value"),
        [
            ("SESSION_COOKIE_SECURE", True),
            ("SECURE_SSL_REDIRECT", True),
            ("SECURE_PROXY_SSL_HEADER", ("HTTP_X_FORWARDED_PROTO", "https")),
        ],
    )
    def test_plain_page_of_a_secure_site_is_not(self, settings, option, value):
        secure = {"x_forwarded_proto": "https"}

        assert asked("http://testserver", **secure)
        setattr(settings, option, value)
        assert not asked("http://testserver", **secure)
        assert asked("https://testserver", **secure)

    def test_origin_may_be_named_by_the_site(self, settings):
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "ALLOWED_ORIGINS": ["https://portal.example"],
        }
        settings.CSRF_TRUSTED_ORIGINS = ["https://trusted.example"]

        assert asked("https://portal.example")
        assert asked("https://trusted.example")
        assert not asked("http://portal.example")

    @pytest.mark.parametrize(
        ("origin", "is_named"),
        [
            ("https://one.trusted.example", True),
            ("https://a.b.Trusted.example", True),
            ("http://one.trusted.example", False),
            ("https://one.trusted.example:8000", False),
            ("https://nottrusted.example", False),
            ("https://trusted.example.evil.example", False),
            ("https://evil.example/.trusted.example", False),
            ("https://evil.example#.trusted.example", False),
            ("https://a@one.trusted.example", False),
            ("https://[::1.trusted.example", False),
        ],
    )
    def test_origin_may_be_named_by_a_pattern(self, settings, origin, is_named):
        settings.CSRF_TRUSTED_ORIGINS = ["https://*.trusted.example"]

        assert asked(origin) is is_named

    def test_behind_a_proxy_is_the_public_one(self, settings):
        public = {"x_forwarded_host": "localhost"}

        assert not asked("http://localhost", "testserver", **public)
        settings.USE_X_FORWARDED_HOST = True
        assert asked("http://localhost", "testserver", **public)
        assert not asked("http://testserver", "testserver", **public)

    @pytest.mark.parametrize("proto", ["https", "https,http", " https, http"])
    def test_behind_a_proxy_with_tls(self, settings, proto):
        told = {"x_forwarded_proto": proto}

        assert not asked("https://testserver", **told)
        settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
        assert asked("https://testserver", **told)
        assert not asked("http://testserver", **told)
        assert not asked("https://testserver", x_forwarded_proto="http")

    def test_origin_needs_a_host_header(self):
        assert not is_own_origin([(b"origin", b"http://testserver")])

    def test_origin_of_two_headers_is_none(self):
        headers = [
            (b"host", b"testserver"),
            (b"origin", b"http://evil.example"),
            (b"origin", b"http://testserver"),
        ]

        assert not is_own_origin(headers)

    @pytest.mark.parametrize("host", ["testserver", "testserver:8000", "[::1]:8000"])
    @pytest.mark.parametrize("secure", [True, False])
    @pytest.mark.parametrize(
        "origin",
        [
            *("http://testserver", "https://testserver", "http://testserver:8000"),
            *("https://testserver:8000", "http://[::1]:8000", "http://testserver."),
            *("http://user@testserver", "http://testserver#x", "https://named.example"),
        ],
    )
    def test_origin_is_as_in_a_form(self, settings, rf, origin, host, secure):
        settings.ALLOWED_HOSTS = ["testserver", "[::1]"]
        settings.CSRF_TRUSTED_ORIGINS = ["https://named.example"]
        posted = rf.post("/", secure=secure, headers={"origin": origin, "host": host})
        by_django = CsrfViewMiddleware(lambda _: None)._origin_verified(posted)

        assert asked(origin, host, scheme="wss" if secure else "ws") is by_django
