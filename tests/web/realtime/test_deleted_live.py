"""A page learns over its socket that its conversation is deleted, or has a name."""

import pytest
from channels.layers import get_channel_layer

from ai_assistant.engine.intake.conversations import delete, rename
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.units import in_db
from ai_assistant.models import Run
from tests.web.conftest import ask
from tests.web.sockets import Socket
from tests.web.test_routing import cookies_of

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
async def run(people):
    run = await in_db(ask, people["ada"], "A matter")
    await in_db(lambda: Run.objects.update(state="succeeded"))
    return run


@pytest.fixture
async def socket(people):
    opened = Socket(await in_db(cookies_of, people["ada"]))
    assert await opened.open()
    yield opened
    await opened.disconnect()


async def ring(run) -> None:
    group = notifications.group_name(run.user_id, run.conversation_id)
    wake = {"type": "aia.wake", "run": str(run.pk)}
    await get_channel_layer().group_send(group, wake)


class TestSocket:
    async def test_socket_of_a_deleted_conversation_is_closed(self, run, socket):
        await socket.hello(run)
        await socket.frame()

        await in_db(delete, run.user_id, run.conversation_id)
        await ring(run)

        assert await socket.code() == 4500  # who comes back is told why: see below

    async def test_socket_of_one_that_was_deleted_before_is_refused(self, run, socket):
        await in_db(delete, run.user_id, run.conversation_id)

        await socket.hello(run)

        assert await socket.code() == 4403

    async def test_socket_tells_another_name(self, run, socket):
        await socket.hello(run)
        await socket.frame()

        await in_db(rename, run.user_id, run.conversation_id, "A <b>name</b>")
        await ring(run)

        frame = await socket.frame()
        name = "A &lt;b&gt;name&lt;/b&gt;"
        assert f'"#aia-title" data-aia-hx-swap="innerMorph">{name}<' in frame["html"]
