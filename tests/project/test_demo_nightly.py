"""The nightly command of the demo: a run that the demo model can answer."""

import asyncio

import pytest
from django.core.management import CommandError, call_command

from ai_assistant.engine.service import look_after
from ai_assistant.models.run import Run
from tests.tables import clear_tables

pytestmark = pytest.mark.row("P05")


@pytest.fixture
def _django_db_helper(django_db_setup, django_db_blocker):
    """Commit for real: other threads execute the run."""
    with django_db_blocker.unblock():
        yield
        clear_tables()


@pytest.fixture
def demo(db, settings):
    model = {"PROVIDER": "project.demo_model.DemoProvider", "MODEL": "demo"}
    settings.AI_ASSISTANT = {
        **settings.AI_ASSISTANT,
        "PROFILES": {"default": model},
    }
    call_command("demo_data", verbosity=0)
    call_command("demo_users", verbosity=0)


class TestDemoNightly:
    def test_it_starts_one_run_a_day_that_lists_the_drafts(self, demo, capsys):
        call_command("demo_nightly")
        call_command("demo_nightly")

        run = Run.objects.get()
        told = capsys.readouterr().out
        assert told == f"Run {run.pk} started.\nRun {run.pk} was started before.\n"
        asyncio.run(look_after(run.conversation_id))
        run.refresh_from_db()
        assert (run.state, run.user.username) == ("succeeded", "editor")
        (call,) = run.calls.all()
        assert (call.name, call.status) == ("list_questionnaires", "complete")
        assert call.arguments["status"] == "draft"

    def test_user_that_there_is_not(self, demo):
        with pytest.raises(CommandError, match="Run demo_users first"):
            call_command("demo_nightly", user="nobody")

    def test_user_who_may_not_use_it(self, demo, django_user_model):
        django_user_model.objects.create_user("plain")

        with pytest.raises(CommandError, match="“plain” may not use the assistant"):
            call_command("demo_nightly", user="plain")
