"""Run one message in this process and print how often it was committed."""

import asyncio
import json
import time
import uuid

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.db.backends.base.base import BaseDatabaseWrapper  # noqa: E402

from ai_assistant.engine import service  # noqa: E402
from ai_assistant.engine.intake.values import Submission  # noqa: E402
from ai_assistant.engine.storage.units import in_db  # noqa: E402
from ai_assistant.models.run import Run  # noqa: E402
from ai_assistant.safety.identity.session import SessionStamp  # noqa: E402

MESSAGE = "[[script:commits]]"
TEXT_ONLY = "[[script:stream delay=0.1 tokens=120 rate=20]]"
committed: list[float] = []
commit = BaseDatabaseWrapper.commit


def counted(self: BaseDatabaseWrapper) -> None:
    committed.append(time.monotonic())
    commit(self)


def find_run(run_id: uuid.UUID) -> Run:
    return Run.objects.get(pk=run_id)


async def run_one(user_id: int, text: str) -> Run:
    committed.clear()
    accepted = await service.send(
        Submission(
            user_id=user_id,
            conversation_id=uuid.uuid4(),
            key=str(uuid.uuid4()),
            text=text,
            stamp=SessionStamp(),
        )
    )
    run = Run(state="running")
    while not run.is_final:
        await asyncio.sleep(0.2)
        run = await in_db(find_run, accepted.run_id)
    return run


async def main() -> None:
    user = await in_db(lambda: get_user_model().objects.get(username="admin"))
    service.boot()
    await asyncio.sleep(1)
    run = await run_one(user.pk, MESSAGE)
    figures = {
        "commits": len(committed),
        "state": run.state,
        "steps": await in_db(run.steps.count),
        "calls": await in_db(run.calls.count),
    }
    await run_one(user.pk, TEXT_ONLY)
    windows = [
        sum(1 for other in committed if at <= other < at + 1) for at in committed
    ]
    print(json.dumps({**figures, "most_in_a_second": max(windows)}))


if __name__ == "__main__":
    BaseDatabaseWrapper.commit = counted  # type: ignore[method-assign]
    asyncio.run(main())
