"""A profile of the admin calls no private address that the site has not allowed."""

import socket

import pytest

from ai_assistant.exceptions import ModelError
from ai_assistant.providers.addresses import check_address, form_problem, private_host
from ai_assistant.providers.readiness import try_model

PRIVATE = (
    *("127.0.0.1", "127.1", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"),
    *("169.254.169.254", "100.64.0.1", "168.63.129.16", "224.0.0.1", "255.255.255.255"),
    *("2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "localhost", "localhost."),
    *("redis", "db.local", "metadata.google.internal", "a.localhost", "printer.lan"),
    *("[::1]", "[::]", "[fe80::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]"),
    *("[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[64:ff9b::7f00:1]", "[::127.0.0.1]"),
    *("[2002:7f00:1::]", "[2001:0:0:0:0:0:80ff:fffe]", "[fe80::1%25eth0]"),
)
PUBLIC = ("8.8.8.8", "[2606:4700::1111]", "[64:ff9b::808:808]", "api.example.com")


@pytest.fixture
def names(monkeypatch):
    """Let host names lead to these addresses; no name server is asked."""
    real, known = socket.getaddrinfo, {"api.example.com": "93.184.216.34"}

    def find(host, port, *more, **options):
        if host in known:
            return [(socket.AF_INET, 1, 6, "", (known[host], port))]
        return real(host, port, *more, flags=socket.AI_NUMERICHOST)

    monkeypatch.setattr(socket, "getaddrinfo", find)
    return known


@pytest.fixture
def allow(settings):
    def change(*hosts):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "MODEL_HOSTS": list(hosts)}

    return change


@pytest.mark.usefixtures("names")
class TestPrivate:
    @pytest.mark.parametrize("host", PRIVATE)
    def test_private_address_is_found_in_each_form(self, host):
        assert private_host(f"https://{host}/v1")

    @pytest.mark.parametrize("host", PUBLIC)
    def test_public_address_is_none(self, host):
        assert private_host(f"https://{host}/v1") == ""

    def test_name_that_leads_to_a_private_address_is_one(self, names):
        names["rebound.example.com"] = "127.0.0.1"

        assert private_host("https://rebound.example.com") == "rebound.example.com"

    @pytest.mark.parametrize("allowed", ["localhost", "localhost:11434"])
    async def test_setting_allows_a_host_or_one_port_of_it(self, allow, allowed):
        allow(allowed)

        await check_address("http://localhost:11434/v1")
        with pytest.raises(ModelError, match="blocked_host"):
            await check_address("http://127.0.0.1:11434/v1")
        other = private_host("http://localhost:6379")
        assert other == ("" if allowed == "localhost" else "localhost")


@pytest.mark.usefixtures("names")
async def test_name_that_leads_inside_a_moment_later_is_not_called(
    names, monkeypatch, model_server
):
    """It is public when it is looked up first, and private when it is called."""
    names["rebound.example.com"] = "93.184.216.34"
    real = check_address

    async def checked(base):
        await real(base)
        names["rebound.example.com"] = "127.0.0.1"

    monkeypatch.setattr("ai_assistant.providers.addresses.check_address", checked)
    profile = {
        "MODEL": "openai/x",
        "API_BASE": f"https://rebound.example.com:{model_server.port}/v1",
        "API_KEY": "k",
        "ROW": 1,
    }

    trial = await try_model(profile)

    assert trial.code == "unreachable"
    assert "leads to a private address now" in trial.detail


class TestForm:
    @pytest.mark.parametrize(
        "base",
        [
            *("example.com", "ftp://example.com", "https://", "https://a b.com"),
            *("https://exa\\mple.com@localhost", "https://example.com:port"),
            *("https://ex\u00e4mple.com", "https://example.com/\n"),
            *("https://key@example.com", "https://example.com?key=1"),
            *("http://example.com", "https://example.com#x"),
        ],
    )
    def test_address_of_another_form_is_refused(self, base):
        assert form_problem(base)

    def test_address_is_right(self):
        assert form_problem("https://example.com:8443/v1") == ""
