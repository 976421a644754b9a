"""The first token in a conversation of 400 messages with results, and in an empty one."""

import asyncio
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.chat import Chat
from tests.bench.report import emit, median
from tests.bench.streams import SHORT
from tests.servers.app import DemoServer

RUNS = 100  # of four messages: a question, two replies that call a tool, an answer
LIVE_RUNS = 11  # that no summary holds: so many messages fit
RESULT_CHARS = 4_000
ROUNDS = 60
MOST_MS = 10


def measure(base: str, folder: Path) -> None:
    """Ask in turn a first and a second message, and one behind 400 messages."""
    where = folder / "long-history"
    where.mkdir()
    with DemoServer(where, model_url=base, provider="direct", lease_s=10) as server:
        written = subprocess.run(
            [sys.executable, "-m", "tests.bench.long_history", str(ROUNDS + 5)],
            env=server.env,
            check=True,
            capture_output=True,
            text=True,
        )
        asked = asyncio.run(_ask(server.url, written.stdout.split()))
    load = f"load {os.getloadavg()[0]:.1f}"
    of = f"{4 * RUNS} messages with results, a summary in place"
    for place, name in enumerate(("empty", "second")):
        over = [(long - short[place]) * 1000 for *short, long in asked]
        begun = median([one[place] for one in asked]) * 1000
        limit = f"at most {MOST_MS}; " if name == "empty" else ""
        note = f"{limit}of {begun:.1f} ms; {of}; {load}"
        emit(f"first_token_long_over_{name}", median(over), "ms", n=ROUNDS, note=note)


async def _ask(url: str, conversations: list[str]) -> list[tuple[float, ...]]:
    """Return the first token of each, but for those that fill caches."""
    found = []
    async with Chat(url) as chat:
        for conversation in conversations:
            took = []
            short = str(uuid.uuid4())
            for named in (short, short, conversation):
                await chat.open_conversation(named)
                took.append((await chat.ask(SHORT)).first_s)
            found.append(tuple(took))
    return found[5:]


def write(count: int) -> Iterator[str]:
    """Write so many conversations, each with the same; yield their ids."""
    from django.contrib.auth import get_user_model

    from ai_assistant.models import Conversation, Message

    user = get_user_model().objects.get(username="admin")
    for _ in range(count):
        own = Conversation.objects.create(owner=user, title="A long matter")
        last = _runs(own, user)
        until = 4 * (RUNS - LIVE_RUNS) - 1
        part = {"type": "text", "text": "They agreed. " * 100, "label": "data"}
        Message.objects.create(
            conversation=own,
            run=last,
            role=Message.Role.SUMMARY,
            origin=Message.Origin.APP,
            position=4 * RUNS,
            sums_up_to=until,
            parts=[{**part, "count": until + 1}],
        )
        Conversation.objects.filter(pk=own.pk).update(summaries=1)
        yield str(own.pk)


def _runs(conversation: Any, user: Any) -> Any:
    """Write the runs of one, table by table; return that on which the summary ends."""
    from django.utils import timezone

    from ai_assistant.models import Message, Run, Step, ToolCall

    runs: list[Any] = []
    said: list[Any] = []
    steps: list[Any] = []
    calls: list[Any] = []
    for number in range(RUNS):
        run = Run(
            conversation=conversation,
            user=user,
            after=runs[-1] if runs else None,
            idempotency_key=uuid.uuid4().hex,
            state="succeeded",
            finished_at=timezone.now(),
        )
        runs.append(run)
        for place in range(4):
            call_id = uuid.uuid4()
            text = {"type": "text", "text": f"What was said, {number}. " * 8}
            called = {"type": "call", "call_id": str(call_id)}
            message = Message(
                conversation=conversation,
                run=run,
                role="assistant" if place else "user",
                position=4 * number + place,
                parts=[called] if place in (1, 2) else [text],
            )
            said.append(message)
            if place == 0:
                continue
            step = Step(run=run, index=place - 1, message=message, finish_reason="stop")
            steps.append(step)
            if place < 3:
                call = ToolCall(
                    pk=call_id,
                    run=run,
                    step=step,
                    position=0,
                    provider_id=f"call_{number}_{place}",
                    name="search_objects",
                    effect="read",
                    status="complete",
                    arguments={"model": "wiki.page", "query": f"door {number}"},
                    result_text="A row of a list. " * (RESULT_CHARS // 17),
                )
                calls.append(call)
    for run in runs:  # their times are in order
        run.save(force_insert=True)
    Message.objects.bulk_create(said)
    Step.objects.bulk_create(steps)
    ToolCall.objects.bulk_create(calls)
    return runs[RUNS - LIVE_RUNS - 1]


if __name__ == "__main__":
    import django
    from django.db import transaction

    django.setup()
    with transaction.atomic():
        print(*write(int(sys.argv[1])), sep="\n")
