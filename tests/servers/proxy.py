"""A TCP proxy that stands for a bad network: it cuts, delays and swallows."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

PIECE_BYTES = 64 * 1024
HANDSHAKE = b"upgrade: websocket"


class Proxy:
    """
    A proxy to a port of this machine, as a context manager.

    `refuses` closes each new connection at once; `refuses_sockets` only those that
    ask for a websocket; `delay_s` holds back each piece; `swallows` lets no byte
    pass in either direction while connections stay open; `swallows_answers` lets
    only what comes from the server vanish. `cut()` breaks all connections.
    """

    def __init__(self, target_port: int) -> None:
        self.target_port = target_port
        self.port = 0
        self.refuses = False
        self.refuses_sockets = False
        self.delay_s = 0.0
        self.swallows = False
        self.swallows_answers = False
        self.accepted = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: self._loop.run_until_complete(self._main()),
            name="proxy",
            daemon=True,
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Break all connections, as a lost network does: with a reset."""
        self._call(self._cut)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("The proxy did not start within 10 s.")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        self._loop.close()

    def _call(self, function: Callable[[], Any]) -> None:
        """Do it on the loop, and wait until it is done."""
        done = threading.Event()
        self._loop.call_soon_threadsafe(lambda: (function(), done.set()))
        done.wait(10)

    async def _main(self) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        self._cut()
        if others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others, timeout=5)

    def _cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.accepted += 1
        self._writers.add(writer)
        # A connection that breaks is what this proxy is for.
        with contextlib.suppress(OSError):
            await self._carry(reader, writer)
        self._writers.discard(writer)
        writer.close()

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        first = await reader.read(PIECE_BYTES)
        is_socket = HANDSHAKE in first.lower()
        if not first or self.refuses or (is_socket and self.refuses_sockets):
            return
        far_reader, far_writer = await asyncio.open_connection(
            "127.0.0.1", self.target_port
        )
        self._writers.add(far_writer)
        try:
            if not await self._pass_on(first, far_writer, from_server=False):
                await reader.read()  # until the caller gives up
                return
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pump(reader, far_writer, from_server=False))
                group.create_task(self._pump(far_reader, writer, from_server=True))
        except* OSError:
            pass  # one side has gone: so does the other
        finally:
            self._writers.discard(far_writer)
            far_writer.close()

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        from_server: bool,
    ) -> None:
        is_dead = False
        while piece := await reader.read(PIECE_BYTES):
            # What has lost a piece can never go on: TCP has no gaps.
            is_dead = is_dead or not await self._pass_on(
                piece, writer, from_server=from_server
            )
        raise ConnectionResetError

    async def _pass_on(
        self, piece: bytes, writer: asyncio.StreamWriter, *, from_server: bool
    ) -> bool:
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        if self.swallows or (from_server and self.swallows_answers):
            return False
        writer.write(piece)
        await writer.drain()
        return True
