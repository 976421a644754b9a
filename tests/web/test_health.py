import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection

from ai_assistant.engine.execution.presence import say_present
from ai_assistant.engine.storage import disk_space
from ai_assistant.models import Run
from ai_assistant.models.clock import Now
from ai_assistant.providers import warmup
from ai_assistant.web import health
from tests.web.conftest import ask

ADDRESS = "/assistant/health/"


def away(*_args, **_kwargs):
    raise OperationalError("the database is away")


@pytest.mark.usefixtures("quiet")
class TestHealth:
    @pytest.mark.parametrize("name", ["", "nobody"])
    def test_health_tells_strangers_no_more_than_the_status(self, browser, name):
        response = browser(name).get(ADDRESS)

        assert response.status_code == 200
        assert response["Content-Type"] == "application/json"
        assert "no-store" in response["Cache-Control"]
        assert response.json() == {"status": "ok"}

    def test_health_tells_who_may_see_the_assistant_the_reasons(self, browser):
        assert browser("viewer").get(ADDRESS).json() == {"status": "ok", "reasons": []}

    @pytest.mark.parametrize("name", ["", "ada"])
    def test_health_says_so_while_the_database_is_away(
        self, browser, name, monkeypatch
    ):
        client = browser(name)
        monkeypatch.setattr(
            "django.db.backends.base.base.BaseDatabaseWrapper.cursor", away
        )

        response = client.get(ADDRESS)

        assert response.status_code == 503
        assert response.json()["status"] == "failed"
        monkeypatch.undo()
        assert client.get(ADDRESS).status_code == 200

    def test_health_names_the_database_as_the_reason(self, browser, monkeypatch):
        monkeypatch.setattr(health, "database_now", away)

        body = browser("ada").get(ADDRESS).json()

        assert body["reasons"] == ["database: OperationalError"]

    @pytest.mark.parametrize(
        ("layers", "reason"),
        [
            ({}, "layer: none is configured"),
            (
                {"default": {"BACKEND": "tests.servers.deaf_layer.DeafLayer"}},
                "layer: TimeoutError",
            ),
        ],
    )
    def test_health_names_a_layer_that_does_not_deliver(
        self, browser, settings, monkeypatch, layers, reason
    ):
        settings.CHANNEL_LAYERS = layers
        monkeypatch.setattr(health, "TIMEOUT_S", 1.0)  # of the database too

        response = browser("ada").get(ADDRESS)

        assert response.status_code == 503
        assert response.json()["reasons"] == [reason]

    def test_web_executor_that_does_not_run_is_a_fault(self, browser, settings):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXECUTOR": "web"}

        response = browser("ada").get(ADDRESS)

        assert response.status_code == 503
        assert response.json()["reasons"][0].startswith("executor: not running")

    def test_sweep_that_does_not_come_to_its_end_is_a_fault(self, browser, monkeypatch):
        late = SimpleNamespace(is_alive=True, unswept_s=100.0)
        monkeypatch.setattr(health, "executor", lambda: late)

        response = browser("ada").get(ADDRESS)

        assert response.status_code == 503
        assert response.json()["reasons"][0].startswith("sweep: not finished for 100 s")

    def test_run_that_is_locked_is_told_and_no_fault(self, browser, monkeypatch):
        monkeypatch.setattr(health, "overdue_s", lambda: [3.0, 7.0])

        response = browser("ada").get(ADDRESS)

        assert response.status_code == 200
        assert response.json()["status"] == "ok"
        (reason,) = response.json()["reasons"]
        assert reason.startswith("runs: 2 locked, no process can resume them for 7 s")

    def test_warming_is_no_fault(self, browser, monkeypatch):
        monkeypatch.setattr(warmup, "state", lambda: "warming")

        response = browser("").get(ADDRESS)

        assert (response.status_code, response.json()) == (200, {"status": "warming"})

    def test_library_that_cannot_be_loaded_is_one(self, browser, monkeypatch):
        monkeypatch.setattr(warmup, "state", lambda: "failed")

        response = browser("ada").get(ADDRESS)

        assert response.status_code == 503
        assert response.json()["reasons"] == ["model library: it cannot be loaded"]

    def test_health_tells_what_a_check_of_the_rows_says(self, browser, monkeypatch):
        monkeypatch.setitem(health.ROWS, "queue", lambda: "it is long")

        response = browser("ada").get(ADDRESS)

        assert response.status_code == 503
        assert response.json()["reasons"] == ["queue: it is long"]

    @pytest.mark.parametrize(("late_s", "status"), [(299.0, 200), (301.0, 503)])
    def test_audit_log_that_nobody_seals(self, browser, monkeypatch, late_s, status):
        monkeypatch.setattr(health, "behind_s", lambda: late_s)

        response = browser("ada").get(ADDRESS)

        assert response.status_code == status
        reasons = ["audit log: not sealed for 301 s"] if status == 503 else []
        assert response.json()["reasons"] == reasons

    def test_health_waits_no_longer_than_a_moment_for_a_check(
        self, browser, monkeypatch
    ):
        hangs = threading.Event()
        monkeypatch.setattr(health, "TIMEOUT_S", 0.2)
        monkeypatch.setitem(health.ROWS, "queue", hangs.wait)

        response = browser("").get(ADDRESS)

        hangs.set()
        assert response.status_code == 503

    def test_missing_key_is_no_fault(self, browser, settings):
        profile = {"PROVIDER": "x.Y", "MODEL": "openai/x", "API_KEY_ENV": "NO_SUCH_KEY"}
        settings.AI_ASSISTANT = {
            **settings.AI_ASSISTANT,
            "PROFILES": {"default": profile},
        }

        assert browser("ada").get(ADDRESS).status_code == 200

    def test_message_that_nobody_takes_is_one(self, browser, people):
        ask(people["ada"], "Hello")
        Run.objects.update(created_at=Now() - timedelta(seconds=60))

        response = browser("ada").get(ADDRESS)

        assert response.status_code == 503
        (reason,) = response.json()["reasons"]
        assert reason.startswith("queue: a message has waited for 6")
        say_present("another|-|-|1|1")
        assert browser("ada").get(ADDRESS).status_code == 200

    def test_processes_without_a_layer_between_them_are_told(self, browser):
        say_present("another|-|-|1|1")
        say_present("a third|-|-|1|1")

        response = browser("ada").get(ADDRESS)

        assert response.status_code == 200
        assert "layer: 2 processes execute runs" in str(response.json())

    def test_call_that_no_worker_takes_is_told(self, browser, monkeypatch):
        monkeypatch.setattr(health, "untaken_s", lambda: 75.4)

        response = browser("ada").get(ADDRESS)

        assert response.status_code == 200
        assert response.json()["reasons"] == [
            "background calls: one has waited for 75 s, and no thread takes it"
        ]

    def test_full_disk_is_a_fault(self, browser, monkeypatch):
        def full():
            with connection.cursor() as cursor:
                cursor.execute("VACUUM")  # no page is free for another row
                pages = cursor.execute("PRAGMA page_count").fetchone()[0]
                cursor.execute(f"PRAGMA max_page_count = {pages}")
                try:
                    return disk_space._try()
                finally:
                    cursor.execute("PRAGMA max_page_count = 1073741823")

        monkeypatch.setattr(health, "TIMEOUT_S", 10.0)
        monkeypatch.setattr(health, "is_full", full)

        response = browser("ada").get(ADDRESS)

        assert response.status_code == 503
        assert response.json()["reasons"] == ["disk: full: nothing can be stored"]
