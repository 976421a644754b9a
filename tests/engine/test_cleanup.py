"""A module cleans up after every run of its, however that ended."""

import pytest

from ai_assistant import ContextModule
from ai_assistant.engine.start import accept
from ai_assistant.engine.stop import stop
from ai_assistant.models.run import Run
from ai_assistant.registry import registry

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


def test_not_for_a_run_of_another_module(submission, ended):
    run = accept(submission(page_path="/admin/"))

    stop(run.run_id)

    assert ended == []
