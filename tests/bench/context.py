"""What the page costs a model call, beside loading its object."""

import os
import subprocess
import sys
from pathlib import Path


def measure(_base: str, folder: Path) -> None:
    """Print the time in a process of its own, with a database of its own."""
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "project.settings",
        "DJANGO_DEBUG": "0",
        "DATABASE_URL": "",
        "AIA_BENCH_DB": str(folder / "context.sqlite3"),
    }
    subprocess.run([sys.executable, "-m", "tests.bench.context"], env=env, check=True)


def main() -> None:
    import time

    import django
    from django.conf import settings

    settings.DATABASES["default"] = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ["AIA_BENCH_DB"],
    }
    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from ai_assistant.context.block import context_block
    from ai_assistant.context.collect import collect_items
    from ai_assistant.context.opened import page_request
    from ai_assistant.context.page import find_page, page_info
    from ai_assistant.types import RunContext
    from project.questionnaires.models import Questionnaire
    from tests.bench.report import emit, median

    call_command("migrate", verbosity=0)
    people = get_user_model().objects
    ada = people.create_superuser("ada", password="x")
    shown = Questionnaire.objects.create(title="Weekly", owner=ada)
    path = f"/admin/questionnaires/questionnaire/{shown.pk}/change/"

    def whole() -> None:
        user = people.get(pk=ada.pk)
        context = RunContext(
            user=user, run_id=None, conversation_id=None, page=page_info(path)
        )
        context_block(collect_items(context).items)

    def loading() -> None:
        page, user = find_page(path), people.get(pk=ada.pk)
        assert page
        rows = page.model_admin.get_queryset(page_request(page, user))
        str(rows.select_related("owner").get(pk=page.info.object_id))

    def timed(work: object) -> float:
        begin = time.perf_counter()
        work()  # type: ignore[operator]
        return (time.perf_counter() - begin) * 1000

    for work in (whole, loading):
        work()
    pairs = [(timed(whole), timed(loading)) for _ in range(300)]
    emit("page_context", median([whole for whole, _ in pairs]), "ms", n=300)
    beside = [whole - loading for whole, loading in pairs]
    emit("page_context_beside_object", median(beside), "ms", n=300, note="at most 5")
    counts = []
    for work in (whole, loading):
        with CaptureQueriesContext(connection) as queries:
            work()
        counts.append(len(queries))
    over = counts[0] - counts[1]
    emit("page_context_queries", over, "queries", n=1, note="at most 3")


if __name__ == "__main__":
    main()
