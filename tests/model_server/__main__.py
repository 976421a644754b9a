"""`python -m tests.model_server --port 0` prints its port and serves."""

import argparse
import asyncio
import contextlib
import signal

from tests.model_server.app import ModelApp, serve


async def main(host: str, port: int) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serve(ModelApp(), host, port) as actual_port:
        print(actual_port, flush=True)  # noqa: T201 - the caller reads it
        await stop.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="tests.model_server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(arguments.host, arguments.port))
