"""Run many messages in this process and print what it holds, every so many."""

import asyncio
import gc
import json
import os
import sys
import threading
import tracemalloc
import uuid
from collections import Counter
from pathlib import Path

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402

from ai_assistant.engine import service  # noqa: E402
from ai_assistant.engine.intake.values import Submission  # noqa: E402
from ai_assistant.engine.storage.units import in_db  # noqa: E402
from ai_assistant.models.run import Run  # noqa: E402
from ai_assistant.safety.identity.session import SessionStamp  # noqa: E402

MESSAGE = "[[script:memory]]"
PARALLEL = 4
PLACES = 12  # where most was allocated since the first look


def held() -> dict[str, float]:
    """Return what this process holds now."""
    gc.collect()
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    objects = gc.get_objects()
    own = sum(str(type(one).__module__).startswith("ai_assistant") for one in objects)
    return {
        "rss_kb": int(line.split()[1]),
        "threads": threading.active_count(),
        "descriptors": len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - links
        "tasks": len(asyncio.all_tasks()),
        "objects": len(objects),
        "own_objects": own,
    }


def find_state(run_id: uuid.UUID) -> str:
    return Run.objects.values_list("state", flat=True).get(pk=run_id)


async def run_one(user_id: int) -> str:
    accepted = await service.send(
        Submission(
            user_id=user_id,
            conversation_id=uuid.uuid4(),
            key=str(uuid.uuid4()),
            text=MESSAGE,
            stamp=SessionStamp(),
        )
    )
    state = "running"
    while state in ("queued", "running") or state.startswith("waiting"):
        await asyncio.sleep(0.02)
        state = await in_db(find_state, accepted.run_id)
    return state


async def run_some(user_id: int, count: int) -> Counter[str]:
    left = list(range(count))
    states: Counter[str] = Counter()

    async def work() -> None:
        while left:
            left.pop()
            states[await run_one(user_id)] += 1

    await asyncio.gather(*(work() for _ in range(PARALLEL)))
    return states


def kinds() -> Counter[str]:
    found = (type(one) for one in gc.get_objects())
    return Counter(f"{kind.__module__}.{kind.__qualname__}" for kind in found)


async def main(runs: int, every: int, *, traced: bool) -> None:
    user = await in_db(lambda: get_user_model().objects.get(username="admin"))
    service.boot()
    await asyncio.sleep(1)
    states = await run_some(user.pk, every)  # all that is made once is made by now
    if traced:
        tracemalloc.start(12)
    first, before = held(), kinds()
    begun = tracemalloc.take_snapshot() if traced else None
    print(json.dumps({"runs": every, **first}), flush=True)
    for done in range(2 * every, runs + 1, every):
        states += await run_some(user.pk, every)
        print(json.dumps({"runs": done, **held()}), flush=True)
    if begun is not None:
        tell(begun, before)
    print(json.dumps({"states": states}), flush=True)


def tell(begun: tracemalloc.Snapshot, before: Counter[str]) -> None:
    """Print where memory was allocated that is still held, and objects of which kind."""
    grown = tracemalloc.take_snapshot().compare_to(begun, "traceback")
    for one in grown[:PLACES]:
        print(f"{one.size_diff / 1024:9.1f} kB {one.count_diff:7} blocks")
        print("\n".join(one.traceback.format()[-8:]))
    for kind, count in (kinds() - before).most_common(PLACES):
        print(f"{count:7} {kind}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), traced="--traced" in sys.argv))
