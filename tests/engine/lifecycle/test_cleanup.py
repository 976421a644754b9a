"""A module cleans up after every run of its, however that ended."""

import pytest

from ai_assistant import ContextModule, conf
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.exceptions import ModelError
from ai_assistant.models.run import Run
from ai_assistant.registry import registry
from ai_assistant.testing import call, reply
from tests.engine.conftest import dead_owner, resume

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("M10")]

PAGE = "/admin/questionnaires/questionnaire/"


@pytest.fixture
def ended():
    """The contexts of the runs after which the module has cleaned up."""
    seen = []

    class CleaningModule(ContextModule):
        matches = ("admin:questionnaires_questionnaire_changelist",)

        def cleanup(self, context):
            seen.append(context)
            raise RuntimeError("a fault of the site")

    with registry.restored():
        registry.add_module(CleaningModule())
        yield seen


def queued(submission) -> Run:
    return Run.objects.get(pk=accept(submission(page_path=PAGE)).run_id)


def test_stopped_before_it_began(submission, ended, caplog):
    run = queued(submission)
    assert run.module == "cleaning"

    stop(run.pk)

    run.refresh_from_db()
    assert run.state == "cancelled"
    assert [context.run_id for context in ended] == [run.pk]
    assert ended[0].page.view_name == "admin:questionnaires_questionnaire_changelist"
    assert "a fault of the site" in caplog.text


def test_run_that_succeeded(play, script, ended):
    script.add("Done.")

    run = play(page_path=PAGE)

    assert run.state == "succeeded"
    assert [context.run_id for context in ended] == [run.pk]


def test_run_that_failed(play, script, ended):
    script.add(ModelError("bad_key", "401"))

    run = play(page_path=PAGE)

    assert run.state == "failed"
    assert [context.run_id for context in ended] == [run.pk]


def test_run_that_reached_a_limit(play, script, options, ended):
    options(LIMITS={"STEPS": 1})
    script.add(reply("", call("echo", {"text": "a"})))

    run = play(page_path=PAGE)

    assert run.state == "limited"
    assert [context.run_id for context in ended] == [run.pk]


def test_run_whose_processes_died(submission, monkeypatch, ended):
    monkeypatch.setattr(conf, "RUN_ATTEMPTS", 1)
    run = Run.objects.get(
        pk=accept(submission(page_path=PAGE), owner=dead_owner()).run_id
    )
    assert ended == []

    sweep_once()
    run = resume(run)

    assert run.state == "failed"
    assert [context.run_id for context in ended] == [run.pk]


def test_waiting_run_has_not_ended(play, script, options, ended):
    options(POLICY={})
    script.add(reply("", call("write_effect", {"key": "a"})))

    run = play(page_path=PAGE)

    assert run.state == "waiting_approval"
    assert ended == []

    stop(run.pk)

    assert [context.run_id for context in ended] == [run.pk]


def test_not_for_a_run_of_another_module(submission, ended):
    run = accept(submission(page_path="/admin/"))

    stop(run.run_id)

    assert ended == []
