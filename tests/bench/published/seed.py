"""
`python -m tests.bench.published.seed SIZES OTHERS`: conversations of many messages.

Writes one conversation for each size (as `200,2000`), and OTHERS messages in
conversations of 100, of 20 users; prints the ids of the first ones. Half as many runs
as messages, each with a question, an answer of one step, its events and its usage.
"""

import json
import sys
import uuid
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.db import models  # noqa: E402
from django.utils import timezone  # noqa: E402

from ai_assistant.models.conversation import Conversation, Message  # noqa: E402
from ai_assistant.models.event import RunEvent  # noqa: E402
from ai_assistant.models.run import Run, RunState, Step  # noqa: E402
from ai_assistant.models.usage import UsageLedger  # noqa: E402
from tests.model_server.scripts import sentence  # noqa: E402

OTHER_SIZE, USERS = 100, 20
SAID = sentence("seed", 60)
OLD = timezone.now() - timedelta(days=2)


def write(sizes: list[int], others: int) -> list[str]:
    """Write all rows; return the ids of the conversations of these sizes."""
    for kind in (Run, Message, Step, RunEvent, UsageLedger):
        # Rows of the past: the column takes what it is given.
        kind._meta.get_field("created_at").auto_now_add = False
    people = get_user_model().objects
    admin = people.get(username="admin")
    users = [admin, *(people.create_user(f"user{n}") for n in range(USERS - 1))]
    wanted = [(admin, size) for size in sizes]
    wanted += [(users[n % USERS], OTHER_SIZE) for n in range(others // OTHER_SIZE)]
    conversations = [Conversation(owner=owner, title="Seeded") for owner, _ in wanted]
    _store(Conversation, conversations)
    for conversation, (_owner, size) in zip(conversations, wanted, strict=True):
        _fill(conversation, size // 2)
    return [str(one.pk) for one in conversations[: len(sizes)]]


def _fill(conversation: Conversation, count: int) -> None:
    runs: list[Run] = []
    for number in range(count):
        begun = OLD + timedelta(seconds=number)
        runs.append(
            Run(
                conversation=conversation,
                user_id=conversation.owner_id,
                after=runs[-1] if runs else None,
                idempotency_key=uuid.uuid4().hex,
                state=RunState.SUCCEEDED,
                created_at=begun,
                finished_at=begun,
            )
        )
    _store(Run, runs)
    questions = [
        _message(run, 2 * n, "user", f"Question {n}?") for n, run in enumerate(runs)
    ]
    answers = [
        _message(run, 2 * n + 1, "assistant", SAID) for n, run in enumerate(runs)
    ]
    _store(Message, questions + answers)
    steps = [
        Step(
            run=run,
            index=0,
            message=answer,
            finish_reason="stop",
            model="scripted",
            created_at=run.created_at,
        )
        for run, answer in zip(runs, answers, strict=True)
    ]
    _store(Step, steps)
    _store(RunEvent, (event for run in runs for event in _events(run)))
    _store(UsageLedger, (_usage(run) for run in runs))


def _message(run: Run, position: int, role: str, text: str) -> Message:
    parts = [{"type": "text", "text": text}]
    return Message(
        conversation_id=run.conversation_id,
        run=run,
        position=position,
        role=role,
        parts=parts,
        created_at=run.created_at,
    )


def _events(run: Run) -> Iterator[RunEvent]:
    for seq, kind in enumerate(("RUN_STARTED", "TEXT_MESSAGE_END", "RUN_FINISHED"), 1):
        yield RunEvent(
            run=run, seq=seq, type=kind, epoch=1, payload={}, created_at=run.created_at
        )


def _usage(run: Run) -> UsageLedger:
    return UsageLedger(
        run=run,
        user_id=run.user_id,
        state="settled",
        tokens=400,
        created_at=run.created_at,
    )


def _store(model: type[models.Model], rows: Iterable[Any]) -> None:
    model._default_manager.bulk_create(list(rows), batch_size=2000)


if __name__ == "__main__":
    print(json.dumps(write([*map(int, sys.argv[1].split(","))], int(sys.argv[2]))))
