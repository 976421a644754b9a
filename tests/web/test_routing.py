"""The ASGI application: what it hides from Django, and what it never lets through."""

import asyncio
from uuid import uuid4

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings as site
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.test import AsyncClient

from ai_assistant import routing
from ai_assistant.engine.storage.units import in_db
from ai_assistant.models import Message, Run
from ai_assistant.routing import assistant_application
from project.asgi import application

LEFT = {"type": "http.disconnect"}


def cookies_of(user) -> bytes:
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = site.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return f"{site.SESSION_COOKIE_NAME}={session.session_key}".encode()


def scope(path: str, body: bytes = b"", *, method: str = "POST", **more) -> dict:
    headers = [
        (b"host", b"testserver"),
        (b"content-type", b"application/x-www-form-urlencoded"),
        (b"content-length", str(len(body)).encode()),
        *more.pop("headers", []),
    ]
    return {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": headers,
        **more,
    }


class Inner:
    """A site that waits for the browser to leave, and does its work meanwhile."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def __call__(self, _scope, receive, send) -> None:
        listening = asyncio.ensure_future(self._listen(receive))
        for _ in range(50):  # what has been sent is there by then
            await asyncio.sleep(0)
        listening.cancel()
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async def _listen(self, receive) -> None:
        while True:
            message = await receive()
            self.told.append(message["type"])
            if message["type"] == "http.disconnect":
                return


async def told(path: str, *messages: dict, **more) -> list[str]:
    """Return what the site was told of these messages."""
    inner = Inner()
    browser = ApplicationCommunicator(assistant_application(inner), scope(path, **more))
    for message in messages:
        await browser.send_input(message)
    await browser.receive_output(30)
    return inner.told


def part(body: bytes = b"", *, more: bool = False) -> dict:
    return {"type": "http.request", "body": body, "more_body": more}


@pytest.mark.usefixtures("quiet")
class TestDisconnect:
    @pytest.mark.parametrize("name", ["send", "stop", "retry", "answer", "new"])
    async def test_disconnect_after_the_whole_request_is_hidden(self, name):
        assert await told(f"/assistant/{name}/", part(), LEFT) == ["http.request"]

    async def test_within_the_request_is_not(self):
        seen = await told("/assistant/send/", part(b"text=", more=True), LEFT)

        assert seen == ["http.request", "http.disconnect"]

    async def test_disconnect_after_the_last_part_is_hidden(self):
        parts = (part(b"a", more=True), part(b"b", more=True), part(b"c"))

        assert await told("/assistant/send/", *parts, LEFT) == ["http.request"] * 3

    @pytest.mark.parametrize(
        "path",
        [
            "/admin/",
            "/assistant/",
            "/assistant/agui/",
            "/assistant/send",
            "/send/",
            "/",
        ],
    )
    async def test_disconnect_is_told_to_other_pages(self, path):
        assert LEFT["type"] in await told(path, part(), LEFT)

    async def test_disconnect_is_told_for_looks(self):
        assert LEFT["type"] in await told(
            "/assistant/send/", part(), LEFT, method="GET"
        )

    async def test_disconnect_is_told_while_the_assistant_is_off(self, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "ENABLED": False}

        assert LEFT["type"] in await told("/assistant/send/", part(), LEFT)

    @pytest.mark.parametrize(
        "more",
        [
            {"root_path": "/site", "path": "/site/assistant/send/"},
            {"root_path": "/site"},
        ],
    )
    async def test_disconnect_is_hidden_below_a_prefix(self, more):
        path = more.pop("path", "/assistant/send/")

        assert await told(path, part(), LEFT, **more) == ["http.request"]

    async def test_disconnect_leaves_the_message_and_its_run(self, people):
        key, conversation = uuid4().hex, uuid4()
        body = f"text=Hello&key={key}&conversation={conversation}".encode()
        cookies = await in_db(cookies_of, people["ada"])
        token = b"a" * 32
        headers = [
            (b"cookie", cookies + b"; csrftoken=" + token),
            (b"x-csrftoken", token),
        ]
        browser = ApplicationCommunicator(
            application, scope("/assistant/send/", body, headers=headers)
        )
        await browser.send_input(part(body))
        await browser.send_input(LEFT)

        answer = await browser.receive_output(5)

        assert answer["status"] == 303
        assert await in_db(Message.objects.filter(key=key).count) == 1
        assert await in_db(Run.objects.filter(conversation_id=conversation).count) == 1

    async def test_disconnect_of_half_a_message_stores_nothing(self, people):
        body = f"text=Hello&key=k&conversation={uuid4()}".encode()
        cookies = await in_db(cookies_of, people["ada"])
        browser = ApplicationCommunicator(
            application,
            scope("/assistant/send/", body + b"...", headers=[(b"cookie", cookies)]),
        )
        await browser.send_input(part(body, more=True))
        await browser.send_input(LEFT)
        await browser.wait(5)

        assert await in_db(Message.objects.count) == 0


class TestApplication:
    async def test_application_boots_on_the_first_scope_of_any_type(self, monkeypatch):
        booted = []
        monkeypatch.setattr(routing, "_boot", lambda: booted.append(True))

        await told("/", part(), LEFT)

        assert booted

    async def test_application_does_not_boot_while_the_assistant_is_off(
        self, monkeypatch, settings
    ):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "ENABLED": False}
        booted = []
        monkeypatch.setattr(routing, "_boot", lambda: booted.append(True))

        await told("/", part(), LEFT)

        assert not booted

    async def test_application_leaves_other_sockets_to_the_site(self):
        seen = []

        async def other(scope, _receive, send):
            seen.append(scope["path"])
            await send({"type": "websocket.close", "code": 4999})

        both = assistant_application(Inner(), websocket=other)
        for path in ("/chat/", "/assistant/ws", "/assistant/ws/x"):
            socket = ApplicationCommunicator(
                both, {"type": "websocket", "path": path, "headers": []}
            )
            await socket.send_input({"type": "websocket.connect"})
            assert (await socket.receive_output(30))["code"] == 4999

        assert seen == ["/chat/", "/assistant/ws", "/assistant/ws/x"]


class TestAddresses:
    def test_addresses_do_not_depend_on_the_prefix_of_the_first_request(self):
        from django.urls import get_script_prefix, set_script_prefix

        routing._address.cache_clear()
        set_script_prefix("/site/")
        try:
            assert routing._address("ws") == "/assistant/ws/"
            assert get_script_prefix() == "/site/"
        finally:
            set_script_prefix("/")

    async def test_plain_request_to_the_socket_is_told_so(self, people):
        client = AsyncClient()
        await client.aforce_login(people["ada"])

        response = await client.get("/assistant/ws/")

        assert response.status_code == 426
        assert response["Upgrade"] == "websocket"

    def test_request_to_the_socket_of_a_server_without_any(self, browser):
        response = browser("ada").get("/assistant/ws/")

        assert response.status_code == 426
        assert response["X-Assistant-Socket"] == "none"
        assert "Upgrade" not in response  # WSGI forbids it
