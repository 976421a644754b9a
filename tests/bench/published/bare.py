"""
`python -m tests.bench.published.bare HOW BASE`: the figures of a bare client.

HOW is `http` or `litellm`. In a process of its own, as each site is.
"""

import asyncio
import json
import os
import sys
import time
from typing import Any

import aiohttp

from tests.bench.published import process_tree
from tests.bench.published.load import Ask, Times, figures, said

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"


def by_http(base: str, http: aiohttp.ClientSession) -> Ask:
    """Return what asks with aiohttp and looks for text, no more."""

    async def ask(tokens: int, rate: float, delay_s: float) -> Times:
        text = said(tokens, rate, delay_s)
        messages = [{"role": "user", "content": text}]
        body = {"model": "scripted", "stream": True, "messages": messages}
        begin, first = time.perf_counter(), 0.0
        async with http.post(f"{base}/chat/completions", json=body) as response:
            async for line in response.content:
                if not first and b'"content"' in line:
                    first = time.perf_counter() - begin
        return Times(first, time.perf_counter() - begin)

    return ask


def by_litellm(base: str) -> Ask:
    """Return what asks with litellm."""
    import litellm

    async def ask(tokens: int, rate: float, delay_s: float) -> Times:
        text = said(tokens, rate, delay_s)
        begin, first = time.perf_counter(), 0.0
        stream: Any = await litellm.acompletion(
            model="openai/scripted",
            api_base=base,
            api_key="sk-test",
            messages=[{"role": "user", "content": text}],
            stream=True,
        )
        async for chunk in stream:
            if not first and chunk.choices and chunk.choices[0].delta.content:
                first = time.perf_counter() - begin
        return Times(first, time.perf_counter() - begin)

    return ask


async def main(how: str, base: str) -> None:
    async with aiohttp.ClientSession() as http:
        ask = by_litellm(base) if how == "litellm" else by_http(base, http)
        pid = os.getpid()
        found = await figures(
            ask, lambda: process_tree.cpu_ms(pid), lambda: process_tree.rss_mb(pid)
        )
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
