"""A socket carries frames down; nothing that a page sends up decides anything."""

import json

import pytest
from django.test import Client

from ai_assistant.engine.storage.units import in_db
from tests.attacks.dump import differs, dump
from tests.attacks.person import Person, card
from tests.attacks.setting import make_rows, offered, wanted
from tests.figures import FIGURE
from tests.web.sockets import Socket

pytestmark = pytest.mark.django_db(transaction=True)

KINDS = (
    *("answer", "approve", "decision", "resume", "interrupt", "result", "claim"),
    *("send", "say", "message", "stop", "retry", "edit", "hello.answer", "aia.wake"),
    *("aia_live", "aia.live", "websocket.receive", "RUN_STARTED", "TOOL_CALL_RESULT"),
    *("CUSTOM", "__init__", "close", "dispatch", "_attach"),
)


def proposed(user, script, offer):
    offered(offer)
    script.add(wanted(make_rows()), *["Done."] * 3)
    person = Person(user)
    run = person.ask("Do it.")
    client = Client()
    client.force_login(user)
    cookies = client.cookies.output(header="", sep=";").strip().split(";")[0]
    return run, card(run), cookies.encode()


async def test_nothing_is_approved(user, script, offer, record_property):
    run, waiting, cookies = await in_db(proposed, user, script, offer)
    before = await in_db(dump)
    said = {
        "interrupt": str(waiting.pk),
        "nonce": waiting.nonce,
        "decision": "approve",
        "conversation": str(run.conversation_id),
        "run": str(run.pk),
        "text": "approve",
        "resume": [{"interruptId": str(waiting.pk), "status": "resolved"}],
    }
    for kind in KINDS:
        socket = Socket(cookies)
        assert await socket.open()
        await socket.hello(run)
        assert waiting.nonce in json.dumps(await socket.frame())  # it is her socket
        await socket.send_to(text_data=json.dumps({"type": kind, **said}))
        await socket.send_to(text_data=json.dumps({"type": "hello", **said}))
        await socket.disconnect()

    await in_db(waiting.refresh_from_db)
    await in_db(run.refresh_from_db)
    assert (waiting.status, run.state) == ("open", "waiting_approval")
    assert differs(before, await in_db(dump)) == []
    record_property(FIGURE, f"frames up a socket: 0 effects of {len(KINDS)} frames")
