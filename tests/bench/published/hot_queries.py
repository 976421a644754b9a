"""
`python -m tests.bench.published.hot_queries`: the statements of what is done most.

Does each thing in this process and prints, as one JSON object, each distinct statement
on the assistant's tables with the plan of the database, by what it was done for.
"""

import asyncio
import json
import re
import uuid
from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import Any

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.db.backends.utils import CursorWrapper  # noqa: E402
from django.db.models import Count  # noqa: E402
from django.test import Client  # noqa: E402

from ai_assistant.engine import service  # noqa: E402
from ai_assistant.engine.execution.sweep import sweep_once  # noqa: E402
from ai_assistant.engine.intake.values import Submission  # noqa: E402
from ai_assistant.engine.storage.units import in_db  # noqa: E402
from ai_assistant.models.conversation import Conversation  # noqa: E402
from ai_assistant.models.run import Run  # noqa: E402
from ai_assistant.safety.identity.session import SessionStamp  # noqa: E402
from tests.bench.published.load import said  # noqa: E402

LISTS = re.compile(r"\((%s)(, %s)+\)")
EXPLAINED = ("SELECT", "UPDATE", "DELETE")
FETCHED = {"HX-Request": "true"}

Statement = tuple[str, Any]
done: dict[str, Statement] = {}  # by the statement without the length of its lists
execute = CursorWrapper.execute


def noted(self: CursorWrapper, sql: Any, params: Any = None) -> Any:
    """Execute a statement, and keep it if it is about the assistant's tables."""
    text = str(sql)
    if "ai_assistant_" in text and text.split(None, 1)[0] in EXPLAINED:
        done.setdefault(LISTS.sub("(...)", text), (text, params))
    return execute(self, sql, params)


@contextmanager
def noting() -> Any:
    """Keep the statements of all threads meanwhile."""
    done.clear()
    CursorWrapper.execute = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        CursorWrapper.execute = execute  # type: ignore[method-assign]


# --- what is done most ---


async def ask(user_id: int, conversation: uuid.UUID) -> None:
    """Send a message, and wait until it is answered."""
    service.boot()
    submission = Submission(
        user_id=user_id,
        conversation_id=conversation,
        key=uuid.uuid4().hex,
        text=said(20, 0, 0),
        stamp=SessionStamp(),
    )
    accepted = await service.send(submission)
    for _ in range(600):
        await asyncio.sleep(0.05)
        if await in_db(_is_final, accepted.run_id):
            return
    raise AssertionError("The run did not end.")


def _is_final(run_id: uuid.UUID) -> bool:
    return Run.objects.get(pk=run_id).is_final


def things(
    runner: asyncio.Runner, client: Client, user: Any, old: Conversation
) -> dict[str, Callable[[], Any]]:
    """Return what is done, by the name that the page gives it."""

    def get(path: str) -> Callable[[], Any]:
        return lambda: client.get(path, headers=FETCHED)

    api = "/assistant/api"
    return {
        "a message in a new conversation": lambda: runner.run(
            ask(user.pk, uuid.uuid4())
        ),
        "a message in a long conversation": lambda: runner.run(ask(user.pk, old.pk)),
        "a page with the closed panel": lambda: client.get("/admin/"),
        "a conversation opened": get(f"/assistant/panel/?conversation={old.pk}"),
        "the messages above": get(
            f"/assistant/earlier/?conversation={old.pk}&before={_newest(old)}"
        ),
        "the list of conversations": get("/assistant/conversations/"),
        "a search in them": get("/assistant/conversations/?q=lantern"),
        "a sweep": sweep_once,
        "health": get("/assistant/health/"),
        "REST: runs of a conversation": get(f"{api}/runs/?conversation={old.pk}"),
        "REST: conversations": get(f"{api}/conversations/"),
        "the admin's list of runs": lambda: client.get(
            "/admin/ai_assistant/conversation/"
        ),
        "the admin's list of usage": lambda: client.get(
            "/admin/ai_assistant/usageledger/"
        ),
        "a purge": lambda: call_command("assistant_purge", days=400, dry_run=True),
    }


def _newest(conversation: Conversation) -> uuid.UUID:
    return conversation.runs.order_by("-created_at").values_list("pk", flat=True)[0]


# --- plans ---


def plan(statement: Statement) -> dict[str, Any]:
    """Return the plan in the database's own words, and which indexes it uses."""
    sql, params = statement
    on_sqlite = connection.vendor == "sqlite"
    prefix = "EXPLAIN QUERY PLAN " if on_sqlite else "EXPLAIN (ANALYZE, FORMAT JSON) "
    with suppress(Undone), transaction.atomic(), connection.cursor() as cursor:
        execute(cursor, prefix + sql, params)
        rows = cursor.fetchall()
        # EXPLAIN ANALYZE has done what it explains.
        raise Undone(_of_sqlite(rows) if on_sqlite else _of_postgres(rows[0][0]))
    return Undone.found


class Undone(Exception):
    """Rolls a transaction back; `found` is what the last one has brought."""

    found: dict[str, Any]

    def __init__(self, found: dict[str, Any]) -> None:
        Undone.found = found


def _of_sqlite(rows: list[Any]) -> dict[str, Any]:
    words = [str(row[3]) for row in rows]
    used = re.findall(r"INDEX (\w+)", " ".join(words))
    return {"plan": words, "indexes": used}


def _of_postgres(found: Any) -> dict[str, Any]:
    (whole,) = json.loads(found) if isinstance(found, str) else found
    nodes = list(_nodes(whole["Plan"]))
    return {
        "plan": [_node_words(node) for node in nodes],
        "indexes": [node["Index Name"] for node in nodes if "Index Name" in node],
        "ms": round(whole["Execution Time"], 2),
    }


def _nodes(node: dict[str, Any]) -> Any:
    yield node
    for below in node.get("Plans", ()):
        yield from _nodes(below)


def _node_words(node: dict[str, Any]) -> str:
    where = node.get("Index Name") or node.get("Relation Name") or ""
    return f"{node['Node Type']} {where} ({node['Actual Rows']:g} rows)"


def own_indexes() -> dict[str, str]:
    """Return the indexes of the assistant's tables, with their table."""
    found = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table.startswith("ai_assistant_"):
                rows = connection.introspection.get_constraints(cursor, table)
                found |= {name: table for name, one in rows.items() if one["index"]}
    return found


def main() -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    user = get_user_model().objects.get(username="admin")
    client = Client(HTTP_HOST="localhost")
    client.force_login(user)
    rows = Conversation.objects.filter(owner=user).annotate(size=Count("messages"))
    old = rows.order_by("-size")[0]
    found: dict[str, list[dict[str, Any]]] = {}
    with asyncio.Runner() as runner:  # the executor stays on one loop
        for name, work in things(runner, client, user, old).items():
            work()  # what is cached is cached by then
            with noting():
                work()
            rows = [(key, *done[key]) for key in done]
            found[name] = [{"sql": k, **plan((sql, values))} for k, sql, values in rows]
    print(json.dumps({"things": found, "indexes": own_indexes()}))


if __name__ == "__main__":
    main()
