"""First token, many streams at once, and the rate of tokens."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from tests.bench.chat import Answer, Chat
from tests.bench.report import emit, median
from tests.servers.app import DemoServer

SHORT = "[[script:stream delay=0.1 tokens=5 rate=200]]"
SLOW = "[[script:stream delay=0.1 tokens=60 rate=20]]"
FAST = "[[script:stream delay=0.1 tokens=2000 rate=0]]"
ROUNDS = 3
PARALLEL = 20


def bare(base: str, how: str, text: str, count: int) -> dict[str, float]:
    """Run `tests.bench.bare` and return its medians."""
    command = [sys.executable, "-m", "tests.bench.bare", "--base", base]
    command += ["--how", how, "--text", text, "--count", str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {k: float(v) for k, v in json.loads(done.stdout.splitlines()[-1]).items()}


async def first_tokens(url: str, count: int) -> list[float]:
    async with Chat(url) as chat:
        for _ in range(5):
            await chat.ask(SHORT)
            await chat.new_conversation()
        times = []
        for _ in range(count):
            times.append((await chat.ask(SHORT)).first_s)
            await chat.new_conversation()
        return times


async def parallel(url: str, spacing_s: float) -> list[Answer]:
    chats = [await Chat(url).__aenter__() for _ in range(PARALLEL)]
    for chat in chats:
        await chat.ask(SHORT)
        await chat.new_conversation()

    async def one(chat: Chat, wait_s: float) -> Answer:
        await asyncio.sleep(wait_s)
        return await chat.ask(SLOW)

    answers = await asyncio.gather(
        *(one(chat, n * spacing_s) for n, chat in enumerate(chats))
    )
    for chat in chats:
        await chat.__aexit__(None, None, None)
    return list(answers)


async def rates(url: str, count: int) -> list[float]:
    async with Chat(url) as chat:
        await chat.ask(SHORT)
        found = []
        for _ in range(count):
            await chat.new_conversation()
            answer = await chat.ask(FAST)
            assert answer.words == 2000, answer.words
            found.append(2000 / (answer.total_s - 0.1))
        return found


def measure_first(base: str, folder: Path, provider: str, count: int) -> None:
    """Print the first token's delay over the bare way to the same model."""
    how = "litellm" if provider == "litellm" else "http"
    for part in range(ROUNDS):
        reference = bare(base, how, SHORT, 20)["first_s"]
        where = folder / f"first-{provider}-{part}"
        where.mkdir()
        with DemoServer(where, model_url=base, provider=provider, lease_s=10) as server:  # type: ignore[arg-type]
            times = asyncio.run(first_tokens(server.url, count))
        over = (median(times) - reference) * 1000
        note = f"round {part + 1}; bare {how} {reference * 1000:.1f} ms"
        emit(f"first_token_over_{how}", over, "ms", n=count, note=note)


def measure_parallel(base: str, folder: Path) -> None:
    for spacing_s, name in ((0.05, "spaced"), (0.0, "at_once")):
        for part in range(ROUNDS):
            where = folder / f"parallel-{name}-{part}"
            where.mkdir()
            with DemoServer(
                where, model_url=base, provider="litellm", lease_s=10
            ) as server:
                answers = asyncio.run(parallel(server.url, spacing_s))
            firsts = sorted(answer.first_s for answer in answers)
            over = (median(firsts) - 0.1) * 1000
            states = sorted({answer.state for answer in answers})
            note = f"round {part + 1}; worst {firsts[-1] * 1000:.0f} ms; {states}"
            emit(f"parallel_{name}_p50_over_model", over, "ms", n=PARALLEL, note=note)


def measure_rate(base: str, folder: Path) -> None:
    for part in range(ROUNDS):
        alone = bare(base, "litellm", FAST, 5)
        reference = alone["tokens"] / (alone["total_s"] - 0.1)
        where = folder / f"rate-{part}"
        where.mkdir()
        with DemoServer(
            where, model_url=base, provider="litellm", lease_s=10
        ) as server:
            ours = median(asyncio.run(rates(server.url, 5)))
        note = (
            f"round {part + 1}; ours {ours:.0f}, bare litellm {reference:.0f} a second"
        )
        emit("token_rate_share", ours / reference, "of bare litellm", n=5, note=note)
