"""
Bare litellm, or bare HTTP, against the model server: what ours is measured by.

Run as a process of its own, like the server, so that both get the same machine.
"""

import argparse
import asyncio
import json
import os
import statistics
import time
from typing import Any

import aiohttp

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"


async def by_litellm(base: str, text: str) -> dict[str, float]:
    import litellm

    begin, cpu = time.perf_counter(), time.process_time()
    first, tokens = 0.0, 0
    stream: Any = await litellm.acompletion(
        model="openai/scripted",
        api_base=base,
        api_key="sk-test",
        messages=[{"role": "user", "content": text}],
        stream=True,
        stream_options={"include_usage": True},
    )
    async for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            first = first or time.perf_counter() - begin
            tokens += 1
    total = time.perf_counter() - begin
    used = time.process_time() - cpu
    return {"first_s": first, "total_s": total, "tokens": tokens, "cpu_s": used}


async def by_http(base: str, text: str) -> dict[str, float]:
    body = {
        "model": "scripted",
        "stream": True,
        "messages": [{"role": "user", "content": text}],
    }
    begin = time.perf_counter()
    first, tokens = 0.0, 0
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{base}/chat/completions", json=body) as response,
    ):
        async for line in response.content:
            if b'"content"' in line:
                first = first or time.perf_counter() - begin
                tokens += 1
    total = time.perf_counter() - begin
    return {"first_s": first, "total_s": total, "tokens": tokens, "cpu_s": 0.0}


async def main(base: str, how: str, text: str, count: int, warm: int) -> None:
    ask = by_litellm if how == "litellm" else by_http
    for _ in range(warm):
        await ask(base, text)
    runs = [await ask(base, text) for _ in range(count)]
    keys = runs[0].keys()
    print(json.dumps({k: statistics.median(run[k] for run in runs) for k in keys}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", required=True)
    parser.add_argument("--how", choices=("litellm", "http"), required=True)
    parser.add_argument("--text", required=True)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--warm", type=int, default=3)
    given = parser.parse_args()
    asyncio.run(main(given.base, given.how, given.text, given.count, given.warm))
