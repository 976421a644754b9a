"""The doorbell never waits and never raises, whatever the layer does."""

import asyncio
import uuid

import pytest
from channels.layers import channel_layers

from ai_assistant.engine.storage import listeners, notifications
from ai_assistant.models.run import Run

RUN = uuid.UUID(int=1)


class Layer:
    """A layer that keeps what it gets, breaks, hangs, or is not there."""

    def __init__(self, mood="keeps"):
        self.mood = mood
        self.got = []

    async def group_send(self, target, message):
        if self.mood == "breaks":
            raise ConnectionError("refused")
        if self.mood == "hangs":
            await asyncio.sleep(60)
        self.got.append((target, message))

    send = group_send


@pytest.fixture
def layer(monkeypatch):
    def use(mood):
        layer = Layer(mood)
        found = None if mood == "away" else layer
        monkeypatch.setattr(notifications, "get_channel_layer", lambda: found)
        return layer

    return use


@pytest.fixture(autouse=True)
def nobody_at_home(monkeypatch):
    monkeypatch.setattr(notifications.home, "loop", None)
    monkeypatch.setattr(notifications.home, "wake", lambda: None)


async def emptied():
    """Wait until all that was put into the outbox is sent or given up."""
    while not notifications.outbox()._queue.empty():
        await asyncio.sleep(0)
    await asyncio.sleep(0.01)


class TestGroupName:
    def test_group_name_is_of_one_user_and_one_conversation(self):
        names = {
            notifications.group_name(user, uuid.UUID(int=n))
            for user in (1, 2)
            for n in (1, 2)
        }

        assert len(names) == 4

    def test_group_name_is_one_that_channels_takes(self):
        name = notifications.group_name("user@example.com/é", RUN)

        assert channel_layers.backends is not None
        assert len(name) < 100
        assert name.replace(".", "").isalnum()

    def test_group_name_takes_an_id_as_text(self):
        assert notifications.group_name(1, str(RUN)) == notifications.group_name(1, RUN)


class TestRing:
    async def test_ring_reaches_the_group(self, layer):
        own = layer("keeps")

        notifications.ring("g", RUN)
        await emptied()

        mark = listeners.process_mark()
        wake = {"type": "aia.wake", "run": str(RUN), "from": mark}
        assert own.got == [("g", wake)]

    async def test_ring_keeps_the_order(self, layer):
        own = layer("keeps")

        for number in range(5):
            notifications.outbox().put("g", {"number": number})
        await emptied()

        assert [message["number"] for _, message in own.got] == [0, 1, 2, 3, 4]

    @pytest.mark.parametrize("mood", ["breaks", "away"])
    async def test_harms_nothing(self, layer, mood):
        own = layer(mood)
        notifications.ring("g", RUN)
        await emptied()
        own.mood = "keeps"
        notifications.ring("g", RUN)
        await emptied()

        assert len(own.got) == (1 if mood == "breaks" else 0)

    async def test_ring_drops_what_a_slow_layer_does_not_take(self, layer, monkeypatch):
        layer("hangs")
        monkeypatch.setattr(notifications, "QUEUE", 3)

        for _ in range(10):
            notifications.ring("g", RUN)

        assert notifications.outbox()._queue.qsize() == 3

    async def test_ring_gives_a_hanging_layer_up(self, layer, monkeypatch):
        own = layer("hangs")
        monkeypatch.setattr(notifications, "SEND_TIMEOUT_S", 0.01)
        notifications.ring("g", RUN)
        await emptied()
        own.mood = "keeps"

        notifications.ring("g", RUN)
        while not own.got:
            await asyncio.sleep(0.01)


class TestRingExecutors:
    @pytest.mark.parametrize(("executor", "count"), [("web", 0), ("worker", 1)])
    async def test_only_where_there_are_workers(self, layer, settings, executor, count):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXECUTOR": executor}
        own = layer("keeps")

        notifications.ring_executors()
        await emptied()

        assert own.got == [("ai_assistant", {"type": "aia.queued"})] * count


class TestRingFromThread:
    def test_ring_from_thread_without_a_loop(self, layer, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXECUTOR": "worker"}
        own = layer("keeps")

        notifications.ring_from_thread("g", RUN)

        assert [target for target, _ in own.got] == ["g", "ai_assistant"]

    def test_harms_nothing(self, layer):
        layer("breaks")

        notifications.ring_from_thread("g", RUN)

    async def test_ring_from_thread_in_a_server_the_loop_rings(self, layer):
        own = layer("keeps")
        woken = []
        notifications.home.loop = asyncio.get_running_loop()
        notifications.home.wake = lambda: woken.append(1)

        await asyncio.to_thread(notifications.ring_from_thread, "g", RUN)
        await emptied()

        assert (len(own.got), woken) == (1, [1])


@pytest.mark.django_db
class TestRingPages:
    @pytest.fixture
    def ring(self, monkeypatch, django_capture_on_commit_callbacks):
        monkeypatch.setattr(notifications, "SEND_TIMEOUT_S", 0.05)

        def change(*tables):
            run = Run(user_id=1, conversation_id=RUN)
            with django_capture_on_commit_callbacks(execute=True):
                notifications.ring_pages(run, tables)

        return change

    def test_pages_are_told_once_of_each_table(self, layer, ring):
        own = layer("keeps")

        ring("shop.order", "auth.user", "shop.order")

        ((target, message),) = own.got
        assert target == message["type"] == notifications.PAGES
        assert message["tables"] == ["auth.user", "shop.order"]

    def test_nothing_is_said_of_no_row(self, layer, ring):
        own = layer("keeps")

        ring()

        assert own.got == []

    @pytest.mark.parametrize("mood", ["breaks", "hangs", "away"])
    def test_layer_that_fails_or_hangs_is_let_be(self, layer, ring, mood):
        own = layer(mood)

        ring("shop.order")

        assert own.got == []
