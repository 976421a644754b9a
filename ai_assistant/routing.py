"""
The way in for an ASGI server.

    # asgi.py
    application = assistant_application(get_asgi_application())
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, cast

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase
from django.urls import NoReverseMatch, get_script_prefix, reverse, set_script_prefix

from ai_assistant import conf

logger = logging.getLogger("ai_assistant")

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

NOT_FOUND, FORBIDDEN = 4404, 4403
ACTIONS = (
    *("send", "stop", "retry", "answer", "new"),
    *("regenerate", "edit_message", "branch"),
    "feedback",
)
API = "api"  # and all below it


def assistant_application(
    http: Application, *, websocket: Application | None = None
) -> Application:
    """
    Return the site's ASGI application with the assistant in front of `http`.

    `websocket` is the site's own application for sockets, if it has one. On the
    first scope of any type this process begins to execute runs, to look for
    stalled ones of other processes, and to load the model library.
    """
    at_one_go = _AtOneGo(http)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if conf.enabled():
            _boot()
        if scope["type"] == "websocket":
            await _to_socket(scope, receive, send, websocket)
        elif scope["type"] == "channel":
            await _to_worker(scope, receive, send)
        elif scope["type"] == "http" and _outlives_its_browser(scope):
            await at_one_go(scope, _without_disconnect(receive), send)
        elif scope["type"] == "http" and _is_of_a_program(scope):
            await at_one_go(scope, receive, send)
        else:
            await http(scope, receive, send)

    return application


def _boot() -> None:
    from ai_assistant.engine.service import boot

    boot()
    _warm_up()


@cache
def _warm_up() -> None:
    """Begin to load the library of the default profile, in a thread of its own."""
    if conf.get("EXECUTOR") != "web":
        return
    from ai_assistant.providers.base import warm_up

    warm_up(conf.profile())


def _outlives_its_browser(scope: Scope) -> bool:
    """Return whether a request is one of our POSTs, which a left page must not end."""
    if scope["method"] != "POST" or not conf.enabled():
        return False
    at_ours = any(_is_at(scope, name) for name in ACTIONS)
    return at_ours or _is_at(scope, API, below=True)


def _is_of_a_program(scope: Scope) -> bool:
    """Return whether a request starts a run for an AG-UI client."""
    is_post = scope["method"] == "POST" and conf.enabled()
    return is_post and _is_at(scope, "agui")


class _AtOneGo:
    """Django's handler in its quicker form for the assistant; any other as it is."""

    def __init__(self, http: Application) -> None:
        self._http = http
        self._quick: Application | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._quick is None:
            # The site's middleware is made once more: that may take a while.
            self._quick = await asyncio.to_thread(self._make)
        await self._quick(scope, receive, send)

    def _make(self) -> Application:
        http: object = self._http
        if type(http) is not ASGIHandler:
            return self._http
        try:
            return cast("Application", OneThreadHandler())
        except Exception:
            logger.exception("the middleware cannot be made twice, so messages wait")
            return self._http


class OneThreadHandler(ASGIHandler):
    """
    Answers a request by the synchronous chain of the site's middleware.

    Under ASGI Django goes to a thread and back for each half of each middleware that
    knows no async, and most know none: some thirty changes of thread before a message
    is accepted, each of which waits its turn on a busy server. Here it is one; an
    async view still runs on the event loop.
    """

    def load_middleware(self, is_async: bool = False) -> None:  # noqa: FBT001, FBT002 - as Django has it
        """Load the chain for a thread, whatever is asked for."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> Any:
        """Return the response, made in the thread of this request."""
        answer: HttpResponseBase = await sync_to_async(self.get_response)(request)
        return answer


def _without_disconnect(receive: Receive) -> Receive:
    """
    Hide the browser's leaving, once the whole request is there.

    Django cancels a request whose client has gone, and people click on at once:
    of 60 messages whose page is left within 12 ms an async view would lose 56.
    """
    complete = False

    async def received() -> dict[str, Any]:
        nonlocal complete
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            complete = True
        if message["type"] == "http.disconnect" and complete:
            await asyncio.Event().wait()
        return message

    return received


async def _to_socket(
    scope: Scope, receive: Receive, send: Send, other: Application | None
) -> None:
    if not conf.enabled() or not _is_at(scope, "ws"):
        if other is None:
            await _refuse(receive, send, NOT_FOUND)
        else:
            await other(scope, receive, send)
        return
    from ai_assistant.web.realtime.origin import is_own_origin

    if not is_own_origin(scope["headers"], scheme=scope.get("scheme", "ws")):
        await _refuse(receive, send, FORBIDDEN)
        return
    # What is drawn for this tab links below it; Django does so for requests only.
    set_script_prefix(settings.FORCE_SCRIPT_NAME or scope.get("root_path", "") or "/")
    await _panel_socket()(scope, receive, send)


@cache
def _panel_socket() -> Application:
    from ai_assistant.web.realtime.consumer import PanelConsumer

    return cast("Application", PanelConsumer.as_asgi())


async def _to_worker(scope: Scope, receive: Receive, send: Send) -> None:
    from ai_assistant.web.realtime.worker import WorkerConsumer

    worker = cast("Application", WorkerConsumer.as_asgi())
    await worker(scope, receive, send)


async def _refuse(receive: Receive, send: Send, code: int) -> None:
    await receive()
    await send({"type": "websocket.close", "code": code})


def _is_at(scope: Scope, name: str, *, below: bool = False) -> bool:
    """Return whether `scope` asks for the URL of the route `name`, or `below` it."""
    prefix = (settings.FORCE_SCRIPT_NAME or scope.get("root_path", "")).rstrip("/")
    path = scope["path"]
    # Some servers leave the prefix of the site in the path, some take it off.
    if path.startswith(f"{prefix}/"):
        path = path.removeprefix(prefix)
    address = _address(name)
    return bool(path == address or (below and address and path.startswith(address)))


@cache
def _address(name: str) -> str:
    """Return the address of a route, without the prefix of the site."""
    before = get_script_prefix()
    set_script_prefix("/")
    try:
        return reverse(f"ai_assistant:{name}")
    except NoReverseMatch:
        return ""
    finally:
        set_script_prefix(before)
