"""
What 30 hooks that do nothing cost a step, spread over the points of a run.

Once with the process on one processor, once on all: on a virtual machine to wake a
thread on another processor takes longer than all of them, so quick hooks are called by
the threads that prepare and store the step.
"""

import asyncio
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.report import emit, median

EACH = 3  # hooks at each of the ten points
STEPS = 2  # of a run: one reads, the other answers
PAIRS = 200
MOST_MS = 1


def measure(_base: str, folder: Path) -> None:
    """Print the figures in a process of its own, with a database of its own."""
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.bench.data_settings",
        "DJANGO_DEBUG": "0",
        "DATABASE_URL": "",
        "AIA_BENCH_DB": str(folder / "hooks.sqlite3"),
    }
    for processors in ("one", "all"):
        command = [sys.executable, "-m", "tests.bench.hooks", processors]
        subprocess.run(command, env=env, check=True)


def main(processors: str) -> None:
    import django

    if processors == "one":
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])

    django.setup()
    from django.core.management import call_command
    from django.test import override_settings

    from ai_assistant.testing import ScriptedProvider

    call_command("migrate", verbosity=0)
    script = ScriptedProvider()
    with override_settings(AI_ASSISTANT=_options(script)):
        asyncio.run(_measured(_user(), script, processors))


async def _measured(user_id: Any, script: Any, processors: str) -> None:
    from ai_assistant.engine.lifecycle.writer import Flusher

    over, flusher = [], Flusher()
    for number in range(PAIRS + 5):
        took = []
        for each in (0, EACH):
            with _hooks(each):
                # The first run after parts were registered fills caches: a site
                # registers them once.
                await _run_ms(user_id, script, flusher)
                took.append(await _run_ms(user_id, script, flusher))
        bare, hooked = took
        if number >= 5:
            over.append([(a - b) / STEPS for a, b in zip(hooked, bare, strict=True)])
    note = f"at most {MOST_MS}; on {processors} of the processors, with and without"
    name = f"hooks_30_a_step_{processors}"
    emit(name, median([wall for wall, _ in over]), "ms", n=PAIRS, note=note)
    emit(f"{name}_cpu", median([cpu for _, cpu in over]), "ms", n=PAIRS)


async def _run_ms(user_id: Any, script: Any, flusher: Any) -> tuple[float, float]:
    """Return how many ms a run of two steps takes, and how many of the processor."""
    from ai_assistant.engine.execution.runner import execute
    from ai_assistant.engine.intake.submission import accept
    from ai_assistant.engine.intake.values import SentPage, Submission
    from ai_assistant.engine.storage.lease import this_process
    from ai_assistant.engine.storage.units import in_db
    from ai_assistant.testing import call, reply

    script.replies[:] = [reply("", call("list_models")), "Some."]
    script.requests.clear()
    wanted = Submission(
        user_id=user_id,
        conversation_id=uuid.uuid4(),
        key=uuid.uuid4().hex,
        text="How many?",
        page=SentPage(path="/admin/auth/group/"),
    )
    accepted = await in_db(lambda: accept(wanted, owner=this_process()))
    begin, cpu = time.perf_counter(), time.process_time()
    await execute(accepted.hold, flusher)
    took = ((time.perf_counter() - begin) * 1000, (time.process_time() - cpu) * 1000)
    assert len(script.requests) == STEPS
    return took


def _options(script: Any) -> dict[str, Any]:
    from django.conf import settings

    from ai_assistant import conf

    profile = {
        "PROVIDER": "ai_assistant.testing.ScriptedProvider",
        "MODEL": "scripted",
        "SCRIPT": script,
    }
    own = {"PROFILES": {"default": profile}, "RATES": {"USER": "", "SITE": ""}}
    return conf.merged(settings.AI_ASSISTANT, own)


@contextmanager
def _hooks(each: int) -> Iterator[None]:
    """Let `each` hooks be the only ones at each point."""
    import ai_assistant
    from ai_assistant.registry import registry
    from ai_assistant.types.hook import POINTS

    def nothing(context: Any, value: Any) -> None:
        return None

    with registry.restored():
        registry._registry = {
            key: part for key, part in registry._registry.items() if key[0] != "hooks"
        }
        for point in POINTS:
            for number in range(each):
                ai_assistant.hook(point, name=f"idle-{number}-{point}")(nothing)
        yield


def _user() -> Any:
    from django.contrib.auth import get_user_model

    made, _is_new = get_user_model().objects.get_or_create(
        username="bench", defaults={"is_staff": True, "is_superuser": True}
    )
    return made.pk


if __name__ == "__main__":
    main(sys.argv[1])
