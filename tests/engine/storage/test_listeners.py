"""Who looks on hears of this process at once, and of others by one message for all."""

import asyncio
import uuid

import pytest
from channels.layers import InMemoryChannelLayer, get_channel_layer

from ai_assistant.engine.storage import listeners as module
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.listeners import home, listeners

GROUP = "aia.test"
RUN = uuid.UUID(int=1)


class Tab:
    def __init__(self):
        self.heard = []

    def hear(self, message):
        self.heard.append(message)


class Between(InMemoryChannelLayer):
    """A layer that leads to other processes too, for all that is known."""

    def __init__(self):
        super().__init__()
        self.sent = []

    async def group_send(self, group, message):
        self.sent.append(message)
        await super().group_send(group, message)


@pytest.fixture
def between(monkeypatch):
    layer = Between()
    for one in (module, notifications):
        monkeypatch.setattr(one, "get_channel_layer", lambda: layer)
    return layer


@pytest.fixture
async def tabs():
    """Two tabs of one conversation."""
    found = Tab(), Tab()
    for tab in found:
        await listeners().join(GROUP, tab)
    yield found
    for tab in found:
        await listeners().leave(GROUP, tab)


async def settled():
    for _turn in range(20):
        await asyncio.sleep(0)


class TestInThisProcess:
    async def test_all_hear_at_once(self, tabs):
        notifications.send(GROUP, {"type": "aia.live", "text": "a"})

        assert [tab.heard for tab in tabs] == [[{"type": "aia.live", "text": "a"}]] * 2

    async def test_others_do_not(self, tabs):
        notifications.send("aia.other", {"type": "aia.live", "text": "a"})

        assert [tab.heard for tab in tabs] == [[], []]

    async def test_layer_in_memory_is_left_alone(self, tabs, monkeypatch):
        sent = []

        async def group_send(*message):
            sent.append(message)

        monkeypatch.setattr(get_channel_layer(), "group_send", group_send)

        notifications.ring(GROUP, RUN)
        await settled()

        assert sent == []
        assert len(tabs[0].heard) == 1

    async def test_who_has_left_hears_nothing_and_holds_nothing(self):
        tab = Tab()
        await listeners().join(GROUP, tab)
        await settled()

        await listeners().leave(GROUP, tab)
        notifications.ring(GROUP, RUN)

        assert tab.heard == []
        assert not listeners().has(GROUP)
        assert GROUP not in get_channel_layer().groups


class TestOtherProcesses:
    async def test_what_is_sent_here_does_not_come_back(self, between, tabs):
        notifications.ring(GROUP, RUN)
        await settled()

        assert len(between.sent) == 1
        assert [len(tab.heard) for tab in tabs] == [1, 1]

    async def test_one_message_is_for_all_tabs(self, between, tabs):
        assert len(between.groups[GROUP]) == 1

        await between.group_send(GROUP, {"type": "aia.wake", "run": "", "from": "x"})
        await settled()

        assert [len(tab.heard) for tab in tabs] == [1, 1]

    async def test_only_a_wake_of_others_wakes_the_executor(
        self, between, tabs, monkeypatch
    ):
        woken = []
        monkeypatch.setattr(home, "wake", lambda: woken.append(1))

        notifications.ring(GROUP, RUN)
        await settled()
        assert woken == []

        await between.group_send(GROUP, {"type": "aia.wake", "run": "", "from": "x"})
        await settled()
        assert woken == [1]

    async def test_other_processes_events_themselves_stay_here(self, between, tabs):
        notifications.tell(GROUP, RUN, ["event"], usage=[])
        await settled()

        assert tabs[0].heard[0]["events"] == ["event"]
        assert "events" not in between.sent[0]

    async def test_a_roll_call_is_answered_once(self, between, tabs):
        own = await between.new_channel()

        await between.group_send(GROUP, {"type": "aia.roll_call", "reply": own})

        assert await between.receive(own) == {"type": "aia.here"}
        await settled()
        assert between.channels.get(own) is None or between.channels[own].empty()

    async def test_layer_that_comes_back_is_heard_again(
        self, between, monkeypatch, settings
    ):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "POLL_S": 0.01}
        monkeypatch.setattr(module, "JOIN_TIMEOUT_S", 0.01)
        group_add, tab = between.group_add, Tab()

        async def fails(*_group):
            raise ConnectionError

        monkeypatch.setattr(between, "group_add", fails)
        await listeners().join(GROUP, tab)
        monkeypatch.setattr(between, "group_add", group_add)
        while GROUP not in between.groups:
            await asyncio.sleep(0.01)

        await between.group_send(GROUP, {"type": "aia.live", "from": "x"})
        while not tab.heard:
            await asyncio.sleep(0.01)
        await listeners().leave(GROUP, tab)
