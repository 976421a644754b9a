"""The owner's pages over a year of a busy site: reports and lists, on SQLite."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.bench.report import emit, median
from tests.servers.app import DemoServer
from tests.servers.prepared import prepare

USERS, DAYS = 300, 365
RUNS, CALLS, LEDGER = 100_000, 300_000, 1_000_000
BUDGETS = 200  # of a user each
ROUNDS = 3
MOST_MS = 1000
TRACE = "trace_of_50_steps_and_200_calls"
LIMITS_MS = {TRACE: 500}
STEPS, CALLS_A_STEP = 50, 4
LONG_RUN = UUID(int=7)
# By the address below `/admin/ai_assistant/`; the first day of the year is 365 days ago.
PAGES = {
    "report_usage": "report/usage/",
    "report_usage_year": "report/usage/?{year}",
    "report_usage_year_by_user": "report/usage/?by=user&{year}",
    "report_usage_year_by_group": "report/usage/?by=group&{year}",
    "report_usage_year_by_tool": "report/usage/?by=tool&{year}",
    "report_tools_year": "report/tools/?{year}",
    "report_failures_year": "report/failures/?{year}",
    "report_approvals": "report/approvals/",
    "report_feedback_year": "report/feedback/?{year}",
    "report_budgets": "report/budgets/",
    "report_undo": "report/undo/",
    "list_runs": "run/",
    "list_runs_last": "run/?p=1900",
    "list_runs_failed": "run/?state__exact=failed",
    "list_runs_searched": "run/?q=bench7",
    "list_conversations": "conversation/",
    "list_conversations_searched": "conversation/?q=number+4711",
    "list_conversations_of_tool": "conversation/?tool=tool_3",
    "list_conversations_failed": "conversation/?outcome=failed",
    "list_conversations_costly": "conversation/?cost=1",
    "list_calls": "toolcall/",
    "list_calls_of_tool": "toolcall/?name=tool_3&status__exact=failed",
    "list_calls_searched": "toolcall/?q=tool_3",
    "list_calls_of_user": "toolcall/?q=bench7",
    "list_changes": "changeset/",
    "list_changes_searched": "changeset/?q=bench7",
    "list_feedback": "feedback/",
    "list_budgets": "budget/",
    "list_usage": "usageledger/",
    "list_usage_searched": "usageledger/?q=bench7",
    "list_usage_of_model": "usageledger/?model=model_1",
    "start_page": "",
    TRACE: f"run/{LONG_RUN}/change/",
}


def measure(base: str, folder: Path) -> None:
    """Print the time of each page, the median of ROUNDS."""
    where = folder / "owner"
    where.mkdir()
    server = DemoServer(where, model_url=base, lease_s=10)
    prepare(server.database_url, server.env)
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.owner"],
        env=server.env,
        check=True,
        capture_output=True,
        text=True,
    )
    for name, times, note in json.loads(done.stdout.splitlines()[-1]):
        limit = f"at most {LIMITS_MS.get(name, MOST_MS)}; {note}"
        emit(f"owner_{name}", median(times), "ms", n=len(times), note=limit)


def fill(model: Any, count: int, /, **columns: str) -> None:
    """Insert so many rows; a column is SQL of the number `i`, or as a new row has it."""
    from django.db import connection

    blank = model()
    names, values, given = [], [], []
    for field in model._meta.concrete_fields:
        sql = columns.get(field.column)
        if sql is None and field.primary_key:
            continue
        names.append(f'"{field.column}"')
        if sql is None:
            value = getattr(blank, field.attname)
            given.append(field.get_db_prep_save(value, connection))
        values.append(sql or "%s")
    into = f"{model._meta.db_table} ({', '.join(names)})"
    numbers = f"SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH RECURSIVE n(i) AS ({numbers}) "  # noqa: S608 - our own
            f"INSERT INTO {into} SELECT {', '.join(values)} FROM n",
            given,
        )


def key(number: str, kind: int) -> str:
    """Return the SQL of a UUID that is made of a number."""
    return f"printf('{kind:08x}%%024x', {number})"


def write() -> None:
    """Write a year: runs with two messages and three calls, and ten model calls each."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group

    from ai_assistant.models import (
        Budget,
        ChangeSet,
        Conversation,
        Feedback,
        Interrupt,
        Message,
        Run,
        Step,
        ToolCall,
        UsageLedger,
    )

    users = get_user_model().objects
    users.bulk_create(
        [users.model(username=f"bench{n}", is_staff=True) for n in range(USERS)]
    )
    first = users.get(username="bench0").pk
    groups = [Group.objects.create(name=f"Team {n}") for n in range(5)]
    for number, user in enumerate(users.filter(pk__gte=first)):
        user.groups.add(groups[number % 5])
    run = f"((i - 1) %% {RUNS} + 1)"
    of_run = "datetime('now', '-' || ({n} * 525600.0 / {all}) || ' minutes')"
    when = of_run.format(n="i", all=RUNS)
    of_call = of_run.format(n=run, all=RUNS)
    owner = f"{first} + (i * 7) %% {USERS}"
    fill(
        Conversation,
        RUNS,
        id=key("i", 1),
        owner_id=owner,
        title="'About number ' || i",
        created_at=when,
        updated_at=when,
    )
    state = "CASE WHEN i %% 20 = 0 THEN 'failed' ELSE 'succeeded' END"
    code = "CASE WHEN i %% 20 = 0 THEN 'code_' || (i %% 3) ELSE '' END"
    fill(
        Run,
        RUNS,
        id=key("i", 2),
        conversation_id=key("i", 1),
        user_id=owner,
        idempotency_key="'k' || i",
        module="'module_' || (i %% 4)",
        agent="CASE WHEN i %% 3 = 0 THEN 'analyst' ELSE '' END",
        page_path="'/admin/shop/order/' || i || '/change/'",
        state=state,
        error_code=code,
        running_s="(i %% 90) / 10.0",
        created_at=when,
        finished_at=when,
    )
    said = (
        '\'[{"type": "text", "text": "What about number \' || ((i + 1) / 2) || \'?"}]\''
    )
    fill(
        Message,
        2 * RUNS,
        id=key("i", 3),
        conversation_id=key("((i + 1) / 2)", 1),
        run_id=key("((i + 1) / 2)", 2),
        position="(i - 1) %% 2",
        role="CASE WHEN i %% 2 = 1 THEN 'user' ELSE 'assistant' END",
        parts=said,
        created_at="datetime('now')",
    )
    fill(
        Step,
        RUNS,
        run_id=key("i", 2),
        message_id=key("2 * i", 3),
        index="0",
        finish_reason="'stop'",
        model="'model_' || (i %% 3)",
        created_at=when,
    )
    first_step = Step.objects.earliest("pk").pk
    step = f"{first_step} + {run} - 1"
    fill(
        ToolCall,
        CALLS,
        id=key("i", 4),
        run_id=key(run, 2),
        step_id=step,
        position=f"(i - 1) / {RUNS}",
        name="'tool_' || (i %% 20)",
        status="CASE WHEN i %% 25 = 0 THEN 'failed' ELSE 'complete' END",
        effect="'read'",
        started_at=of_call,
        finished_at=of_call,
        created_at=of_call,
    )
    fill(
        Interrupt,
        RUNS // 4,
        id=key("i", 5),
        run_id=key("i", 2),
        call_id=key("i", 4),
        kind="'approval'",
        status="CASE WHEN i %% 5 = 0 THEN 'denied' ELSE 'approved' END",
        nonce="'n' || i",
        decided_by_id=owner,
        decided_at="datetime('now')",
        created_at="datetime('now', '-' || (i %% 60) || ' seconds')",
    )
    fill(
        UsageLedger,
        LEDGER,
        run_id=key(run, 2),
        user_id=f"{first} + ({run} * 7) %% {USERS}",
        model=f"'model_' || ({run} %% 3)",
        state="'settled'",
        step_index=f"(i - 1) / {RUNS}",
        tokens="1200",
        input_tokens="1000",
        output_tokens="200",
        cost_usd="0.0021",
        usd="0.0021",
        created_at=of_call,
    )
    fill(
        Feedback,
        RUNS // 10,
        run_id=key("i", 2),
        user_id=owner,
        value="CASE WHEN i %% 4 = 0 THEN 'down' ELSE 'up' END",
        created_at=when,
    )
    fill(
        ChangeSet,
        RUNS // 4,
        id=key("i", 6),
        run_id=key("i", 2),
        user_id=owner,
        tool="'tool_' || (i %% 20)",
        created_at=when,
    )
    Budget.objects.create(scope="user", window="month", usd=100)
    Budget.objects.create(scope="site", window="month", usd=10000)
    Budget.objects.bulk_create(
        [Budget(scope="group", group=one, window="month", usd=100) for one in groups]
        + [
            Budget(scope="user", user=one, window="month", usd=10)
            for one in users.filter(pk__gte=first)[:BUDGETS]
        ]
    )


def write_long_run() -> None:
    """Write a run of many steps, each with its events, calls and their results."""
    from django.contrib.auth import get_user_model

    from ai_assistant.engine.storage.eventlog import append_events
    from ai_assistant.events import Custom, StepStarted, TextContent
    from ai_assistant.models import Conversation, Message, Run, Step, ToolCall
    from ai_assistant.models.clock import Now

    user = get_user_model().objects.filter(is_superuser=True)[0]
    conversation = Conversation.objects.create(owner=user)
    options = {"conversation": conversation, "user": user, "state": "succeeded"}
    run = Run.objects.create(pk=LONG_RUN, idempotency_key="long", **options)
    for index in range(STEPS):
        parts = [{"type": "text", "text": "Seen. " * 100}]
        message = Message.objects.create(
            conversation=conversation, run=run, position=index, parts=parts
        )
        step = Step.objects.create(run=run, index=index, message=message, model="m")
        calls = [
            ToolCall(
                run=run,
                step=step,
                position=position,
                name=f"tool_{position}",
                status="complete",
                arguments={"query": "orders " * 20},
                result_text="One of the orders. " * 500,
            )
            for position in range(CALLS_A_STEP)
        ]
        ToolCall.objects.bulk_create(calls)
        said = [TextContent(message_id=str(message.pk), delta="Seen. ", offset=0)] * 20
        moved = [Custom(name="aia.call", value={"call_id": str(c.pk)}) for c in calls]
        facts = [StepStarted(index=index), *said, *moved]
        append_events(run.pk, facts, first_seq=index * len(facts) + 1, epoch=1)
    ToolCall.objects.filter(run=run).update(finished_at=Now())
    Run.objects.filter(pk=run.pk).update(finished_at=Now())


def times() -> list[tuple[str, list[float], str]]:
    """Return how long each page took, in ms."""
    from datetime import timedelta

    from django.contrib.auth import get_user_model
    from django.test import Client
    from django.utils import timezone

    client = Client(HTTP_HOST="localhost")
    client.force_login(get_user_model().objects.filter(is_superuser=True)[0])
    today = timezone.localdate()
    year = f"first={today - timedelta(days=DAYS)}&last={today}"
    client.get("/admin/ai_assistant/")  # templates and caches
    found = []
    for name, path in PAGES.items():
        took = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            address = f"/admin/ai_assistant/{path.format(year=year)}"
            response = client.get(address, headers={"sec-fetch-dest": "empty"})
            took.append((time.perf_counter() - began) * 1000)
        note = f"{len(response.content) // 1024} KB"
        if response.status_code != 200:
            note = f"answered with {response.status_code}"
        found.append((name, took, note))
    return found


if __name__ == "__main__":
    import django
    from django.db import transaction

    django.setup()
    from ai_assistant.models import SummedDay

    with transaction.atomic():
        write()
        write_long_run()
        SummedDay.objects.all().delete()  # of the empty site
    from ai_assistant.engine.accounting.daily import sum_days, summed_until

    began = time.perf_counter()
    passes, before = 0, object()
    while summed_until() != before:
        before = summed_until()
        sum_days()
        passes += 1
    summed = (time.perf_counter() - began) * 1000
    note = f"{DAYS} days in {passes} sweeps"
    print(json.dumps([("sum_of_a_day", [summed / DAYS], note), *times()]))
