"""The panel's websocket: frames down; up only where the page stands."""

import asyncio
import contextvars
import json
import logging
import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary, WeakValueDictionary

from channels.consumer import get_handler_name
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import (
    BACKEND_SESSION_KEY,
    HASH_SESSION_KEY,
    SESSION_KEY,
    get_user_model,
    load_backend,
)
from django.contrib.auth.models import AnonymousUser
from django.db import Error as DatabaseFailure
from django.http import parse_cookie
from django.utils.crypto import constant_time_compare
from django.utils.translation import activate, get_supported_language_variant

from ai_assistant.engine.queries import is_anothers
from ai_assistant.engine.storage import notifications
from ai_assistant.engine.storage.listeners import listeners
from ai_assistant.engine.storage.pool import Stage
from ai_assistant.engine.storage.units import in_db
from ai_assistant.render.html.live.projection import Projection
from ai_assistant.render.html.transcript.stale import tables_shown
from ai_assistant.request_context import outliving
from ai_assistant.safety.identity.permissions import fresh_user, may_view
from ai_assistant.safety.identity.session import session_store
from ai_assistant.safety.limits import TokenBucket
from ai_assistant.types import UserKey
from ai_assistant.web.panel.panel import Panel, bare_panel
from ai_assistant.web.realtime.follower import Pump, SocketClosed


def is_signed_in(session: Any, user: Any) -> bool:
    """Return whether the stored session still belongs to `user`, as stored now."""
    stored = session_store()(session_key=session.session_key).load()
    if str(stored.get(SESSION_KEY)) != str(user.pk) or not user.is_active:
        return False
    if not hasattr(user, "get_session_auth_hash"):
        return True
    good = [user.get_session_auth_hash()]
    # A session from before the site's key was changed: the next request renews it.
    good += getattr(user, "get_session_auth_fallback_hash", tuple)()
    found = stored.get(HASH_SESSION_KEY, "")
    return any(constant_time_compare(found, one) for one in good)


# A page acknowledges each frame, up to some 15 a second while text grows, and says
# hello once for each socket. What it has not acknowledged in a sleep comes at once.
HELLO = 10  # tokens, as it reads the rows; any other frame takes one
OF_A_SOCKET = (300, 30.0)  # tokens at once, and a second
OF_A_USER = (1500, 150.0)


_of_users: WeakValueDictionary[UserKey, TokenBucket] = WeakValueDictionary()


class FrameRate:
    """The rate of one socket, and of all sockets of its user that are open here."""

    def __init__(self, user_id: UserKey) -> None:
        self._own = TokenBucket(size=OF_A_SOCKET[0], per_s=OF_A_SOCKET[1])
        # Held by its sockets: it goes with the last of them.
        of_user = TokenBucket(size=OF_A_USER[0], per_s=OF_A_USER[1])
        self._of_user = _of_users.setdefault(user_id, of_user)

    def admits(self, *, is_hello: bool = False) -> bool:
        """Count a frame; False if it is one too many."""
        tokens, now = HELLO if is_hello else 1, time.monotonic()
        return self._own.take(tokens, now) and self._of_user.take(tokens, now)


logger = logging.getLogger("ai_assistant")

# Daphne sends no code of 1001 to 2999: with one of these the socket would stay open.
SIGNED_OUT, FORBIDDEN, TOO_LARGE, BAD_FRAME, FAILED = 4401, 4403, 4413, 4400, 4500
MAX_FRAME_BYTES = 64 * 1024
TOO_MANY = 4429  # frames; the page then polls for a while
CHECK_S = 10.0  # between two looks whether the session is still good
MAX_BAD_FRAMES = 10
# An ack needs no deed: a page says where it stands by its next hello.
OTHER_FRAMES = ("look", "ack")
NO_FRAME = (
    *(ValueError, TypeError, KeyError, AttributeError),
    *(OverflowError, RecursionError),
)


class Guard:
    """
    Closes the sockets of an event loop whose session or permission has gone.

    In one look for all: many tabs of a person have the same session.
    """

    def __init__(self) -> None:
        self._sockets: dict[PanelConsumer, None] = {}
        self._task: asyncio.Task[None] | None = None

    def add(self, socket: "PanelConsumer") -> None:
        """Look after a socket."""
        self._sockets[socket] = None
        if self._task is None:
            loop = asyncio.get_running_loop()
            self._task = loop.create_task(self._run(), context=contextvars.Context())

    def remove(self, socket: "PanelConsumer") -> None:
        """Look after it no more."""
        self._sockets.pop(socket, None)
        if not self._sockets and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(CHECK_S)
            sockets = {_who(socket): socket.scope for socket in self._sockets}
            try:
                codes = await in_db(_close_codes, sockets, stage=Stage.BESIDE)
            except DatabaseFailure:
                continue  # nothing can be read or done meanwhile
            for socket in [*self._sockets]:
                if code := codes.get(_who(socket)):
                    self._close(socket, code)

    def _close(self, socket: "PanelConsumer", code: int) -> None:
        self._sockets.pop(socket, None)
        outliving(socket.close(code))


_guards: WeakKeyDictionary[asyncio.AbstractEventLoop, Guard] = WeakKeyDictionary()


def guard() -> Guard:
    """Return the guard of the running event loop."""
    return _guards.setdefault(asyncio.get_running_loop(), Guard())


@dataclass(frozen=True, kw_only=True, slots=True)
class Hello:
    """The first frame of a page: its conversation, and the last event that it shows."""

    conversation_id: UUID
    run_id: UUID | None
    seq: int
    path: str
    language: str  # of the page; empty: the site's own
    opened: str  # when the page was, in milliseconds


class PanelConsumer(AsyncWebsocketConsumer):
    """One tab. It may be cut at any moment; nothing is lost by that."""

    channel_layer_alias = "ai_assistant.none"  # it hears of all by its listeners

    async def dispatch(self, message: dict[str, Any]) -> None:
        """
        Handle one message of the page.

        Unlike Channels, do not close old database connections first: the consumer has
        none, and a hop to a thread for each piece of text is expensive.
        """
        await getattr(self, get_handler_name(message))(message)

    async def connect(self) -> None:
        """Admit who may see the assistant; else say why, by the close code."""
        self.pump: Pump | None = None
        self.group = ""
        self.tables: frozenset[str] = frozenset()  # labels of what the page shows
        self.bad_frames = 0
        self.is_closed = False
        # Not by the middlewares of Channels, which hold five times as much for a tab.
        visitor = await in_db(_visitor, self.scope["headers"], stage=Stage.ASK)
        self.scope["session"], self.scope["user"] = visitor.session, visitor.user
        self.rate = FrameRate(visitor.user.pk)
        await self.accept()
        if visitor.refusal:
            await self.close(visitor.refusal)
        else:
            guard().add(self)

    async def disconnect(self, code: int) -> None:
        """Let go of everything. A run never ends by this."""
        self.is_closed = True
        guard().remove(self)
        await self._leave()

    async def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Close the socket, once. What the page still sends is not read any more."""
        if not self.is_closed:
            self.is_closed = True
            await super().close(code, reason)
            await self._leave()

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None
    ) -> None:
        """Read one frame of the page."""
        if self.is_closed:
            return
        if bytes_data is not None or text_data is None:
            await self._bad_frame()
        elif _is_too_large(text_data):
            await self.close(TOO_LARGE)
        elif not self.rate.admits():
            await self._too_many()
        else:
            await self._read(text_data)

    async def _read(self, text: str) -> None:
        try:
            said = json.loads(text)
            kind = said["type"]
            hello = _hello_of(said) if kind == "hello" else None
        except NO_FRAME:
            kind, hello = "", None
        if hello is not None and not self.rate.admits(is_hello=True):
            await self._too_many()
        elif hello is not None:
            await self._attach(hello)
        elif kind == "look" and self.pump is not None:
            if opened := str(said.get("opened", "")):  # the page is as new as that
                self.pump.projection.panel.page.opened = opened
            self.pump.follower.wake()
        elif kind not in OTHER_FRAMES:
            await self._bad_frame()

    async def _bad_frame(self) -> None:
        """Ignore what is not a valid frame; too many of them end the socket."""
        self.bad_frames += 1
        if self.bad_frames >= MAX_BAD_FRAMES:
            await self.close(BAD_FRAME)

    async def _too_many(self) -> None:
        """End a socket that floods the server. Nothing is lost: the page polls."""
        user: Any = self.scope["user"]
        logger.warning("a page of user %s sent too many frames", user.pk)
        await self.close(TOO_MANY, "Too many frames.")

    async def _attach(self, hello: Hello) -> None:
        """Attach to a conversation: listen first, then look at the rows."""
        user: Any = self.scope["user"]
        if await in_db(is_anothers, user.pk, hello.conversation_id):
            await self.close(FORBIDDEN)
            return
        await self._leave()
        self.group = notifications.group_name(user.pk, hello.conversation_id)
        await listeners().join(self.group, self)
        await listeners().join(notifications.PAGES, self)
        panel, self.tables = await in_db(_page_of, user, hello.path)
        panel.page.opened = hello.opened
        if self.is_closed:  # meanwhile, by the guard
            return
        # For this tab's tasks alone; threads get it from them.
        activate(hello.language or settings.LANGUAGE_CODE)
        projection = Projection(hello.conversation_id, user.pk, panel)
        self.pump = Pump(projection, self._down, self._give_up)
        self.pump.start(hello.run_id, hello.seq)

    async def _leave(self) -> None:
        pump, self.pump = self.pump, None
        if pump is not None:
            await pump.stop()
        group, self.group = self.group, ""
        if group:
            await listeners().leave(notifications.PAGES, self)
            await listeners().leave(group, self)

    def _give_up(self) -> None:
        """Close the socket, so that the page reconnects and reads the rows again."""
        task = asyncio.get_running_loop().create_task(self.close(FAILED))
        self._closing = task

    async def _down(self, frame: dict[str, Any]) -> None:
        text = json.dumps(frame, ensure_ascii=False)
        try:
            await self.send(text_data=text)
        except (OSError, RuntimeError) as error:  # as servers say it, each its own way
            raise SocketClosed from error

    def hear(self, message: dict[str, Any]) -> None:
        """Take what is said to all who look on at the conversation, or to all pages."""
        if self.pump is not None and not self._is_of_others(message):
            self.pump.follower.hear(message)

    def _is_of_others(self, message: dict[str, Any]) -> bool:
        """Return whether a message to all pages is about rows that this one has not."""
        if message["type"] != notifications.PAGES:
            return False
        # Its own conversation tells the page of its changes itself.
        return message["of"] == self.group or self.tables.isdisjoint(message["tables"])


def _page_of(user: Any, path: str) -> tuple[Panel, frozenset[str]]:
    return bare_panel(user, path), tables_shown(path)


def _hello_of(said: dict[str, Any]) -> Hello:
    """Return what a hello says. Raise one of NO_FRAME if it says nothing of the kind."""
    return Hello(
        conversation_id=UUID(said["conversation"]),
        run_id=UUID(said["run"]) if said.get("run") else None,
        seq=int(said.get("after") or 0),
        path=str(said.get("path", ""))[:2000],
        language=_language(said.get("language")),
        opened=str(said.get("opened", "")),
    )


def _language(said: object) -> str:
    """Return a language of the site: what is drawn later looks like the page."""
    try:
        return get_supported_language_variant(str(said or ""))
    except LookupError:
        return ""


def _is_too_large(text: str) -> bool:
    if len(text) > MAX_FRAME_BYTES:
        return True
    return len(text.encode("utf-8", "surrogatepass")) > MAX_FRAME_BYTES


@dataclass(frozen=True, kw_only=True, slots=True)
class Visitor:
    """Who opens a socket; `refusal` is the close code for one who may not."""

    session: Any
    user: Any
    refusal: int


def _visitor(headers: list[tuple[bytes, bytes]]) -> Visitor:
    """Return whom the cookies of a socket show. Changes no session, as no cookie can."""
    cookies = [value.decode("latin-1") for name, value in headers if name == b"cookie"]
    key = parse_cookie("; ".join(cookies)).get(settings.SESSION_COOKIE_NAME)
    session = session_store()(key)
    user = _user_of(session)
    if user is None or not is_signed_in(session, user):
        return Visitor(session=session, user=AnonymousUser(), refusal=SIGNED_OUT)
    return Visitor(session=session, user=user, refusal=_refusal(user))


def _user_of(session: Any) -> Any:
    backend = session.get(BACKEND_SESSION_KEY)
    if backend not in settings.AUTHENTICATION_BACKENDS:
        return None
    user_id = get_user_model()._meta.pk.to_python(session[SESSION_KEY])
    return load_backend(backend).get_user(user_id)


def _who(socket: "PanelConsumer") -> tuple[Any, str]:
    """Return the user and the session of a socket."""
    user: Any = socket.scope["user"]
    return user.pk, str(socket.scope["session"].session_key)


def _close_codes(scopes: dict[tuple[Any, str], Any]) -> dict[tuple[Any, str], int]:
    return {who: _close_code(scope) for who, scope in scopes.items()}


def _close_code(scope: dict[str, Any]) -> int:
    user = fresh_user(scope["user"].pk)
    if user is None or not is_signed_in(scope["session"], user):
        return SIGNED_OUT
    return _refusal(user)


def _refusal(user: Any) -> int:
    """Return the close code for a signed-in user who may not look; 0 if allowed."""
    if may_view(user):
        return 0
    # A user who was deleted between two checks has lost more than a permission.
    return FORBIDDEN if fresh_user(user.pk) else SIGNED_OUT
