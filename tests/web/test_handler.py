"""Our POSTs go through the site's middleware in one thread, at one go."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.asgi import get_asgi_application
from django.utils.deprecation import MiddlewareMixin

from ai_assistant.engine.storage.units import in_db
from ai_assistant.models import Run
from ai_assistant.routing import assistant_application
from tests.web.test_routing import cookies_of, part, scope

TOKEN = b"a" * 32
ways: list[tuple[str, str]] = []  # path, and how the middleware was gone through


class Watching(MiddlewareMixin):
    """A middleware that knows async by Django's adapter, like Django's own."""

    def process_request(self, request):
        ways.append((request.path, "async" if self.async_mode else "sync"))


def only_async_middleware(get_response):
    async def middleware(request):
        ways.append((request.path, "only async"))
        return await get_response(request)

    return middleware


only_async_middleware.sync_capable = False  # type: ignore[attr-defined]
only_async_middleware.async_capable = True  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _watched(settings, quiet):
    ways.clear()
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.Watching"]


async def answer(application, user, path: str, body: bytes, *, method: str = "POST"):
    cookies = await in_db(cookies_of, user) + b"; csrftoken=" + TOKEN
    headers = [(b"cookie", cookies), (b"x-csrftoken", TOKEN)]
    browser = ApplicationCommunicator(
        application, scope(path, body, method=method, headers=headers)
    )
    await browser.send_input(part(body))
    started = await browser.receive_output(5)
    await browser.receive_output(5)
    await browser.wait(5)
    return started


async def test_message_is_accepted_at_one_go(people):
    application = assistant_application(get_asgi_application())
    body = f"text=Hello&key={uuid4().hex}&conversation={uuid4()}".encode()

    answered = await answer(application, people["ada"], "/assistant/send/", body)

    assert answered["status"] == 303
    assert await in_db(Run.objects.count) == 1
    assert ways == [("/assistant/send/", "sync")]


async def test_middleware_that_knows_async_only_is_kept(people, settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.only_async_middleware"]
    application = assistant_application(get_asgi_application())
    body = f"text=Hello&key={uuid4().hex}&conversation={uuid4()}".encode()

    answered = await answer(application, people["ada"], "/assistant/send/", body)

    assert answered["status"] == 303
    assert [way for _, way in ways] == ["async", "only async"]


async def test_other_pages_are_answered_as_ever(people):
    application = assistant_application(get_asgi_application())

    answered = await answer(
        application, people["ada"], "/assistant/health/", b"", method="GET"
    )

    assert answered["status"] in (200, 503)
    assert [way for _, way in ways] == ["async"]


async def test_application_of_the_sites_own_is_left_alone(people):
    inner = get_asgi_application()
    seen = []

    async def wrapped(scope, receive, send):
        seen.append(scope["path"])
        await inner(scope, receive, send)

    body = f"text=Hello&key={uuid4().hex}&conversation={uuid4()}".encode()
    application = assistant_application(wrapped)

    answered = await answer(application, people["ada"], "/assistant/send/", body)

    assert answered["status"] == 303
    assert seen == ["/assistant/send/"]
    assert [way for _, way in ways] == ["async"]


@dataclass
class Unhashable:
    """A site's own application: equal by value, and so without a hash."""

    inner: Any

    async def __call__(self, scope, receive, send):
        await self.inner(scope, receive, send)


async def test_application_may_be_anything(people):
    application = assistant_application(Unhashable(get_asgi_application()))
    body = f"text=Hello&key={uuid4().hex}&conversation={uuid4()}".encode()

    answered = await answer(application, people["ada"], "/assistant/send/", body)

    assert answered["status"] == 303


class Once(MiddlewareMixin):
    """A middleware that cannot be made twice."""

    made = 0

    def __init__(self, get_response):
        super().__init__(get_response)
        Once.made += 1
        if Once.made > 1:
            raise ValueError("This metric is registered already.")


async def test_middleware_that_cannot_be_made_twice(people, settings, caplog):
    Once.made = 0
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{__name__}.Once"]
    application = assistant_application(get_asgi_application())

    for _message in range(2):
        body = f"text=Hello&key={uuid4().hex}&conversation={uuid4()}".encode()
        answered = await answer(application, people["ada"], "/assistant/send/", body)
        assert answered["status"] == 303

    assert Once.made == 2
    assert "cannot be made twice" in caplog.text
