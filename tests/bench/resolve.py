"""What 200 rows of each kind of configuration cost a message."""

import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from tests.bench.report import emit, median

ROWS = 200
TIMES = 200
MOST_MS = 2
PAGE = "/admin/auth/group/"


def measure(_base: str, folder: Path) -> None:
    """Print the figures in a process of its own, with a database of its own."""
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.bench.data_settings",
        "DJANGO_DEBUG": "0",
        "DATABASE_URL": "",
        "AIA_BENCH_DB": str(folder / "resolve.sqlite3"),
    }
    subprocess.run([sys.executable, "-m", "tests.bench.resolve"], env=env, check=True)


def main() -> None:
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from ai_assistant.configuration import rows

    call_command("migrate", verbosity=0)
    user = get_user_model().objects.create_superuser("bench")
    _fill()
    took = [_resolved_ms(user) for _ in range(TIMES + 5)][5:]
    rows.version.forget()  # it is asked for again every few seconds
    with CaptureQueriesContext(connection) as asked:
        _resolved_ms(user)
    note = f"at most {MOST_MS}; {ROWS} rows of each of six kinds"
    emit("resolve_message", median(took), "ms", n=TIMES, note=note)
    emit("resolve_message_queries", len(asked), "queries", n=1, note="at most 1")


def _fill() -> None:
    from ai_assistant.models import configuration as models
    from ai_assistant.models.module import Module

    for number in range(ROWS):
        # Of each kind a half is of another page.
        place = {"model": "auth.user" if number % 2 else "", "priority": number % 7}
        name = {"name": f"row-{number}", **place}
        text = f"Say it plainly, as number {number} has it."
        models.Instruction.objects.create(text=text, **name)
        models.Skill.objects.create(description=text, body=text, **name)
        models.PromptCommand.objects.create(text=text, **name)
        models.Suggestion.objects.create(label=text, **name)
        models.Agent.objects.create(description=text, text=text, **name)
        pages = f"admin:app_{number}_*"
        Module.objects.create(name=name["name"], pages=pages, text=text)


def _resolved_ms(user: Any) -> float:
    """Return the milliseconds of the processor in which a run begins with all of it."""
    from ai_assistant.configuration.setup import begin, setup_of_run
    from ai_assistant.configuration.suggested import suggested
    from ai_assistant.modules.resolve import page_context

    run_id = uuid.uuid4()
    cpu = time.process_time()
    begin(run_id)
    context = page_context(user, PAGE)
    context.run_id = run_id
    setup = setup_of_run(context)
    found = (setup.instructions, setup.skills, setup.commands, setup.agents)
    took = (time.process_time() - cpu) * 1000
    assert all(len(one) >= ROWS / 2 for one in found)
    suggested(context)
    return took


if __name__ == "__main__":
    main()
