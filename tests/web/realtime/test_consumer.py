import asyncio
import json
import re
from uuid import uuid4

import pytest
from channels.layers import get_channel_layer
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session
from django.db import OperationalError, transaction

from ai_assistant.engine.storage import listeners, notifications
from ai_assistant.engine.storage.units import in_db
from ai_assistant.models import Run
from ai_assistant.models.change import ChangeSet, RowChange
from ai_assistant.models.run import RunState
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.web.realtime import consumer
from tests.render.html.dom import Page
from tests.web.conftest import ask
from tests.web.sockets import Socket
from tests.web.test_routing import cookies_of

pytestmark = pytest.mark.usefixtures("quiet")

DEAF = {"default": {"BACKEND": "tests.servers.deaf_layer.DeafLayer"}}
GARBAGE = (
    *("x", "[]", "{}", "null", "1", '"hello"', "{", "\x00", "\ud800", "[" * 5000),
    *('{"type": null}', '{"type": []}', '{"type": {}}', '{"type": "approve"}'),
    *('{"type": "hello"}', '{"type": "hello", "conversation": 5}'),
    *('{"type": "hello", "conversation": "x"}', '{"type": "say", "text": "x"}'),
)


@pytest.fixture
async def signed_in(people):
    """Return an open socket of a user; it is closed with the test."""
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
async def run(people):
    return await in_db(ask, people["ada"], "Hello <b>you</b>")


def text_of(frame: dict) -> str:
    return json.dumps(frame, ensure_ascii=False)


async def ring(run) -> None:
    group = notifications.group_name(run.user_id, run.conversation_id)
    await get_channel_layer().group_send(
        group, {"type": "aia.wake", "run": str(run.pk)}
    )


@pytest.mark.row("X05")
class TestConnect:
    @pytest.mark.parametrize(
        "options",
        [
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"origin": None},
            {"origin": "http://sub.testserver"},
            {"origin": "http://testserver:8000"},
            {"origin": "http://evil.example", "host": "evil.example"},
        ],
    )
    async def test_connect_from_another_site_is_refused(self, people, options):
        socket = Socket(await in_db(cookies_of, people["ada"]), **options)

        assert not await socket.open()

    @pytest.mark.parametrize(
        "options",
        [
            {"origin": "HTTP://TestServer"},
            {"origin": "http://localhost:8000", "host": "localhost:8000"},
        ],
    )
    async def test_connect_from_this_site_is_taken(self, people, options):
        socket = Socket(await in_db(cookies_of, people["ada"]), **options)

        assert await socket.open()
        assert await socket.is_silent()
        await socket.disconnect()

    @pytest.mark.parametrize(
        "cookies", [b"", b"sessionid=x", b"sessionid=" + b"x" * 32]
    )
    async def test_signed_out_is_told_so(self, people, cookies):
        socket = Socket(cookies)

        assert await socket.open()
        assert await socket.code() == 4401

    @pytest.mark.row("M12")
    async def test_connect_without_permission_is_told_so(self, people):
        socket = Socket(await in_db(cookies_of, people["nobody"]))

        assert await socket.open()
        assert await socket.code() == 4403

    @pytest.mark.row("M13")
    async def test_connect_while_it_is_off_there_is_no_socket(self, people, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "ENABLED": False}

        assert not await Socket(await in_db(cookies_of, people["ada"])).open()


class TestFrames:
    async def test_frames_that_are_none_are_passed_over(self, signed_in, run):
        for said in GARBAGE:
            socket = await signed_in()
            await socket.send_to(text_data=said)
            await socket.hello(run)
            assert "Hello" in text_of(await socket.frame())

    @pytest.mark.parametrize("after", ["Infinity", "NaN", "-1", '"x"', "[]", "1e999"])
    async def test_frames_with_odd_positions_do_no_harm(self, signed_in, run, after):
        socket = await signed_in()
        said = f'"conversation": "{run.conversation_id}", "after": {after}'
        await socket.send_to(text_data=f'{{"type": "hello", {said}}}')
        await socket.hello(run)

        assert "Hello" in text_of(await socket.frame())

    async def test_too_many_that_are_none_end_the_socket_once(self, signed_in):
        socket = await signed_in()
        for number in range(1000):
            await socket.send_to(text_data=GARBAGE[number % len(GARBAGE)])

        assert await socket.code() == 4400
        assert await socket.is_silent()

    async def test_frames_of_bytes_are_none(self, signed_in):
        socket = await signed_in()
        for _ in range(10):
            await socket.send_to(bytes_data=b"\x00\xff")

        assert await socket.code() == 4400

    @pytest.mark.parametrize("character", ["x", "é", "😀"])
    async def test_too_large_end_the_socket(self, signed_in, run, character):
        socket = await signed_in()
        await socket.send_to(
            text_data=character * (65_536 // len(character.encode()) + 1)
        )
        await socket.hello(run)

        assert await socket.code() == 4413
        assert await socket.is_silent()

    async def test_frames_of_other_kinds_change_nothing(self, signed_in, run):
        socket = await signed_in()
        for said in ('{"type": "look"}', '{"type": "ack", "s": 1}'):
            await socket.send_to(text_data=said)
        await socket.hello(run)

        assert (await socket.frame())["r"] == str(run.pk)


class TestHello:
    async def test_hello_draws_what_the_page_lacks(self, signed_in, run):
        socket = await signed_in()

        await socket.hello(run)

        frame = await socket.frame()
        assert (frame["s"], frame["r"]) == (1, str(run.pk))
        assert 'hx-target="#aia-log" data-aia-hx-swap="upsert">' in frame["html"]
        assert "Hello &lt;b&gt;you&lt;/b&gt;" in text_of(frame)

    @pytest.mark.parametrize(
        ("said", "word"),
        [("de", "Sie"), ("de-AT", "Sie"), ("en", "You"), ("xx", "You"), ([], "You")],
    )
    async def test_hello_draws_in_the_language_of_the_page(
        self, signed_in, run, said, word
    ):
        socket = await signed_in()

        await socket.hello(run, language=said)

        assert f">{word}" in text_of(await socket.frame())

    async def test_hello_draws_nothing_where_nothing_lacks(self, signed_in, run):
        await in_db(lambda: Run.objects.update(state=RunState.SUCCEEDED))
        socket = await signed_in()

        await socket.hello(run, after=1, drawn=True)

        frame = await socket.frame()
        page = Page(title="Another name")
        page.draw(frame)
        assert page.by_id("aia-title").text() == "Hello <b>you</b>"
        # What waits is no event.
        assert re.findall("#[a-z-]+", frame["html"]) == ["#aia-title", "#aia-queued"]
        assert (frame["state"], {*frame}) == ("idle", {"s", "r", "state", "html"})

    @pytest.mark.row("D01")
    async def test_hello_to_anothers_conversation_ends_the_socket(self, signed_in, run):
        socket = await signed_in("bob")

        await socket.hello(run)

        assert await socket.code() == 4403

    async def test_hello_to_a_conversation_before_its_first_message_waits(
        self, signed_in, people
    ):
        conversation = uuid4()
        socket = await signed_in()
        said = {"type": "hello", "conversation": str(conversation)}
        await socket.send_json_to(said)
        await asyncio.sleep(0.05)

        run = await in_db(
            lambda: ask(people["ada"], "The first", conversation=conversation)
        )
        await ring(run)

        assert "The first" in text_of(await socket.frame())

    async def test_a_second_time_leaves_the_first_conversation(
        self, signed_in, people, run
    ):
        other = await in_db(ask, people["ada"], "Other")
        socket = await signed_in()
        await socket.hello(run)
        assert (await socket.frame())["r"] == str(run.pk)

        await socket.hello(other)
        assert (await socket.frame())["r"] == str(other.pk)
        await in_db(lambda: Run.objects.all().delete())
        await ring(run)
        groups = get_channel_layer().groups

        assert notifications.group_name(run.user_id, run.conversation_id) not in groups
        assert notifications.group_name(run.user_id, other.conversation_id) in groups


@pytest.mark.row("X05")
class TestGuard:
    @pytest.fixture(autouse=True)
    def often(self, monkeypatch):
        monkeypatch.setattr(consumer, "CHECK_S", 0.02)

    async def test_guard_closes_when_the_session_is_gone(self, signed_in, run):
        socket = await signed_in()
        await socket.hello(run)
        await socket.frame()

        await in_db(Session.objects.all().delete)

        assert await socket.code() == 4401
        await ring(run)
        assert await socket.is_silent()

    @pytest.mark.parametrize(
        ("field", "value", "code"),
        [
            ("is_active", False, 4401),
            ("password", "other", 4401),
            ("is_staff", False, 4403),
        ],
    )
    async def test_guard_closes_when_the_user_may_no_more(
        self, signed_in, people, field, value, code
    ):
        socket = await signed_in()
        setattr(people["ada"], field, value)

        await in_db(people["ada"].save)

        assert await socket.code() == code

    async def test_guard_closes_when_the_permission_is_taken(self, signed_in, people):
        socket = await signed_in()

        await in_db(people["ada"].user_permissions.clear)

        assert await socket.code() == 4403

    async def test_guard_closes_when_the_user_is_deleted(self, signed_in, people):
        socket = await signed_in()

        await in_db(people["ada"].delete)

        assert await socket.code() == 4401

    async def test_guard_outlives_a_database_that_is_away_for_a_while(
        self, signed_in, people, monkeypatch
    ):
        socket, asked = await signed_in(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def away(*_args):
            loop.call_soon_threadsafe(asked.set)
            raise OperationalError

        with monkeypatch.context() as patched:
            patched.setattr(consumer, "fresh_user", away)
            await asked.wait()
        await in_db(Session.objects.all().delete)

        assert await socket.code() == 4401

    async def test_guard_looks_once_for_all_tabs_of_a_session(
        self, signed_in, monkeypatch
    ):
        first = await signed_in()
        cookies = dict(first.scope["headers"])[b"cookie"]
        second = Socket(cookies)
        assert await second.open()
        rounds = []
        look = consumer._close_codes

        def counted(scopes):
            rounds.append(len(scopes))
            return look(scopes)

        monkeypatch.setattr(consumer, "_close_codes", counted)
        while len(rounds) < 2:
            await asyncio.sleep(0.01)
        await in_db(Session.objects.all().delete)

        assert [await first.code(), await second.code()] == [4401, 4401]
        assert set(rounds) == {1}
        await second.disconnect()

    async def test_session_signed_with_the_former_key_is_good(
        self, signed_in, settings, people
    ):
        from ai_assistant.web.realtime.consumer import is_signed_in

        socket = await signed_in()
        settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
        settings.SECRET_KEY = "a new one"
        session = type("Session", (), {"session_key": _key(socket)})

        assert await in_db(is_signed_in, session, people["ada"])
        settings.SECRET_KEY_FALLBACKS = []
        assert not await in_db(is_signed_in, session, people["ada"])


class TestLayer:
    """It may be away, deaf or slow: then the rows are looked at now and then."""

    class Slow:
        """Takes for ever to note who listens."""

        async def group_add(self, *_args):
            await asyncio.Event().wait()

        group_discard = group_add

    class Broken:
        async def group_add(self, *_args):
            raise ConnectionError("no layer")

        group_discard = group_add

    @pytest.fixture(autouse=True)
    def impatient(self, settings, monkeypatch):
        monkeypatch.setattr(listeners, "JOIN_TIMEOUT_S", 0.02)
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "POLL_S": 0.02}

    @pytest.mark.parametrize("layers", [DEAF, {}])
    async def test_deaf_or_none_delays_and_loses_nothing(
        self, signed_in, people, settings, layers
    ):
        settings.CHANNEL_LAYERS = layers
        await self._shows_what_comes(await signed_in(), people)

    @pytest.mark.parametrize("layer", [Slow, Broken])
    async def test_slow_or_broken_delays_and_loses_nothing(
        self, signed_in, people, monkeypatch, layer
    ):
        for name in ("group_add", "group_discard"):
            monkeypatch.setattr(get_channel_layer(), name, getattr(layer(), name))
        await self._shows_what_comes(await signed_in(), people)

    async def _shows_what_comes(self, socket, people):
        run = await in_db(ask, people["ada"], "The first")
        await socket.hello(run)
        assert "The first" in text_of(await socket.frame())
        await in_db(lambda: Run.objects.update(state=RunState.SUCCEEDED))

        conversation = run.conversation_id
        await in_db(lambda: ask(people["ada"], "The second", conversation=conversation))

        assert "The second" in text_of(await socket.frame())


class TestPump:
    async def test_pump_waits_for_a_database_that_is_away(
        self, signed_in, run, monkeypatch, settings
    ):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "POLL_S": 0.02}
        answers = [OperationalError(), OperationalError(), None]
        attach = Projection.attach

        def sometimes(self, *args):
            if error := answers.pop(0):
                raise error
            return attach(self, *args)

        monkeypatch.setattr(Projection, "attach", sometimes)
        socket = await signed_in()

        await socket.hello(run)

        assert "Hello" in text_of(await socket.frame())

    async def test_pump_draws_the_run_anew_after_a_failure(
        self, signed_in, run, monkeypatch
    ):
        socket = await signed_in()
        await socket.hello(run)
        await socket.frame()

        def fails(self):
            monkeypatch.undo()
            raise OperationalError

        monkeypatch.setattr(Projection, "catch_up", fails)
        await ring(run)

        assert "Hello" in text_of(await socket.frame())

    async def test_fault_of_its_own_ends_the_socket(
        self, signed_in, run, monkeypatch, caplog
    ):
        socket = await signed_in()
        await socket.hello(run)
        await socket.frame()
        monkeypatch.setattr(Projection, "catch_up", lambda _: 1 / 0)

        await ring(run)

        assert await socket.code() == 4500
        assert "a panel could not be kept up to date" in caplog.text

    async def test_page_that_was_left_is_no_fault(
        self, signed_in, run, monkeypatch, caplog
    ):
        socket = await signed_in()
        await socket.hello(run)
        await socket.frame()
        tried = asyncio.Event()

        async def send(self, **message):
            tried.set()
            raise RuntimeError("Attempt to send on a closed protocol")

        monkeypatch.setattr(consumer.PanelConsumer, "send", send)
        monkeypatch.setattr(Projection, "catch_up", lambda _: [["remove", "x", ""]])
        await ring(run)

        await asyncio.wait_for(tried.wait(), 20)
        await asyncio.sleep(0)
        assert caplog.text == ""

    async def test_pump_ends_with_its_socket(self, signed_in, run):
        before = asyncio.all_tasks()
        socket = await signed_in()
        await socket.hello(run)
        await socket.frame()

        await socket.disconnect()

        assert asyncio.all_tasks() == before
        assert not get_channel_layer().groups


def _key(socket: Socket) -> str:
    cookies = dict(socket.scope["headers"])[b"cookie"].decode()
    return cookies.partition("=")[2]


SECTION = "questionnaires.section"


def changed_by(run, table=SECTION) -> None:
    """Let `run` have changed section 7, and say that it was a row of `table`."""
    with transaction.atomic():
        change_set = ChangeSet.objects.create(run=run, user_id=run.user_id)
        RowChange.objects.create(
            change_set=change_set, order=0, model=SECTION, object_id="7"
        )
        notifications.ring_pages(run, [table])


def let_view(user) -> None:
    user.user_permissions.add(Permission.objects.get(codename="view_section"))


@pytest.fixture
def look(signed_in, people, monkeypatch):
    """Open the page of a section, beside a conversation of Bob's."""

    async def make(section: int) -> Socket:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(notifications.home, "loop", loop)
        own = await in_db(ask, people["bob"], "Mine")
        socket = await signed_in("bob")
        path = f"/admin/questionnaires/section/{section}/change/"
        await socket.hello(own, path=path, opened="1000")
        assert "Mine" in text_of(await socket.frame())
        return socket

    return make


class TestPages:
    async def test_page_is_told_of_what_anothers_run_has_changed(
        self, look, run, people
    ):
        await in_db(let_view, people["bob"])
        socket = await look(7)

        await in_db(changed_by, run)

        ((name, bar),) = (await socket.frame())["tell"]
        assert (name, bar.startswith("aia-stale:")) == ("stale", True)

    @pytest.mark.parametrize(
        ("section", "may_view", "table"),
        [(8, True, SECTION), (7, False, SECTION), (7, True, "auth.group")],
    )
    async def test_page_of_another_object_or_one_that_may_not_be_seen_is_not(
        self, look, run, people, section, may_view, table
    ):
        if may_view:
            await in_db(let_view, people["bob"])
        socket = await look(section)

        await in_db(changed_by, run, table)
        await asyncio.sleep(0.5)

        assert await socket.is_silent()
