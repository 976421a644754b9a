"""A page that floods its socket loses the socket, and nobody else does."""

import json

import pytest

from ai_assistant.engine.storage.units import in_db
from ai_assistant.safety.limits import TokenBucket
from ai_assistant.web.realtime import consumer
from ai_assistant.web.realtime.consumer import FrameRate
from tests.web.conftest import ask
from tests.web.sockets import Socket
from tests.web.test_routing import cookies_of

ACK = '{"type": "ack", "s": 1}'
TOO_MANY = 4429


class TestBucket:
    def test_bucket_gives_what_it_holds_and_no_more(self):
        bucket = TokenBucket(size=3, per_s=1.0, at=0.0)

        assert [bucket.take(1, 0.0) for _ in range(4)] == [True, True, True, False]

    def test_fills_with_time_up_to_its_size(self):
        bucket = TokenBucket(size=3, per_s=2.0, at=0.0)
        assert bucket.take(3, 0.0)

        assert not bucket.take(2, 0.5)
        assert bucket.take(2, 1.0)
        assert not bucket.take(4, 1000.0)
        assert bucket.take(3, 1000.0)


class TestRate:
    @pytest.fixture(autouse=True)
    def dry(self, monkeypatch):
        """No token comes back while a test runs, however slow the machine."""
        monkeypatch.setattr(consumer, "OF_A_SOCKET", (20, 0.0))
        monkeypatch.setattr(consumer, "OF_A_USER", (30, 0.0))

    def admitted(self, rate, count):
        return sum(rate.admits() for _ in range(count))

    def test_rate_of_one_socket(self):
        assert self.admitted(FrameRate("a"), 100) == 20

    def test_rate_of_all_sockets_of_a_user(self):
        rates = [FrameRate("a"), FrameRate("a"), FrameRate("b")]

        assert [self.admitted(rate, 100) for rate in rates] == [20, 10, 20]

    def test_hello_costs_more(self):
        rate = FrameRate("a")

        assert [rate.admits(is_hello=True) for _ in range(3)] == [True, True, False]

    def test_rate_is_forgotten_with_the_last_socket(self):
        rate = FrameRate("a")
        self.admitted(rate, 100)
        assert "a" in consumer._of_users

        del rate

        assert "a" not in consumer._of_users

    def test_which_an_honest_page_needs(self, monkeypatch):
        """Half a minute of growing text that a sleeping page acknowledges at once."""
        monkeypatch.undo()
        rate = FrameRate("a")

        assert rate.admits(is_hello=True)
        assert self.admitted(rate, 250) == 250


@pytest.mark.usefixtures("quiet")
class TestSocket:
    @pytest.fixture(autouse=True)
    def dry(self, monkeypatch):
        monkeypatch.setattr(consumer, "OF_A_SOCKET", (30, 0.0))

    @pytest.fixture
    async def signed_in(self, people):
        opened = []

        async def make(name: str = "ada") -> Socket:
            socket = Socket(await in_db(cookies_of, people[name]))
            opened.append(socket)
            assert await socket.open()
            return socket

        yield make
        for socket in opened:
            await socket.disconnect()

    @pytest.fixture
    async def run(self, people):
        return await in_db(ask, people["ada"], "Hello")

    async def test_socket_that_floods_is_closed_once(self, signed_in, caplog):
        socket = await signed_in()

        for _ in range(1000):
            await socket.send_to(text_data=ACK)

        assert await socket.code() == TOO_MANY
        assert await socket.is_silent()
        assert caplog.text.count("sent too many frames") == 1

    @pytest.mark.parametrize("text", [ACK, '{"type": "look"}'])
    async def test_up_to_the_limit_is_heard(self, signed_in, run, text):
        socket = await signed_in()
        for _ in range(19):
            await socket.send_to(text_data=text)

        await socket.hello(run)  # of one token and ten

        assert "Hello" in json.dumps(await socket.frame())

    async def test_socket_that_says_hello_again_and_again_is_closed(
        self, signed_in, run
    ):
        socket = await signed_in()

        for _ in range(10):
            await socket.hello(run)

        assert await socket.code() == TOO_MANY

    async def test_socket_leaves_the_other_tabs_of_the_person(self, signed_in, run):
        flooding, other = await signed_in(), await signed_in()
        for _ in range(1000):
            await flooding.send_to(text_data=ACK)
        assert await flooding.code() == TOO_MANY

        await other.hello(run)

        assert "Hello" in json.dumps(await other.frame())

    async def test_socket_may_be_opened_anew(self, signed_in, run):
        flooding = await signed_in()
        for _ in range(100):
            await flooding.send_to(text_data=ACK)
        assert await flooding.code() == TOO_MANY

        again = await signed_in()
        await again.hello(run)

        assert "Hello" in json.dumps(await again.frame())
