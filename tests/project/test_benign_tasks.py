"""Everyday wishes on the demo data, by the data tools alone."""

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import transaction

from ai_assistant import conf
from tests.figures import FIGURE
from tests.project.benign.linking import INLINES_ONLY, LINKING
from tests.project.benign.looking import LOOKING
from tests.project.benign.many import MANY
from tests.project.benign.player import Outcome, Task, play
from tests.project.benign.writing import WRITING

pytestmark = [pytest.mark.django_db, pytest.mark.broad]
TASKS = [*LOOKING, *WRITING, *LINKING, *MANY]


@pytest.fixture
def people(demo_data, settings):
    # What is tried here is not how fast a loaded machine saves 36 forms.
    settings.AI_ASSISTANT = conf.merged(
        settings.AI_ASSISTANT, {"TIMEOUTS": {"WRITE_S": 60.0}}
    )
    call_command("demo_users", verbosity=0)
    return {user.username: user for user in get_user_model().objects.all()}


def attempt(task: Task, people: dict) -> Outcome:
    """Play the task on the demo data, and leave them as they were."""
    with transaction.atomic():
        outcome = play(task, people[task.user])
        transaction.set_rollback(True)
    return outcome


def told(task: Task, outcome: Outcome) -> str:
    played = outcome.played
    calls = [f"{one.name}: {one.status} {one.error}" for one in played.calls]
    said = played.messages[-1][1]
    return f"{task.text} {played.state} {played.error} {calls} {said!r}"


class TestBenignTasks:
    def test_benign_tasks_are_done_with_one_approval_at_most(
        self, people, record_property
    ):
        outcomes = [(task, attempt(task, people)) for task in TASKS]

        missed = [told(*one) for one in outcomes if not one[1].is_done]
        asked = [outcome.yes for _task, outcome in outcomes]
        record_property(
            FIGURE,
            f"benign tasks: {len(TASKS) - len(missed)} of {len(TASKS)} done, "
            f"{sum(asked)} approvals, at most {max(asked)} each",
        )
        assert len(TASKS) >= 30
        assert not missed, "\n".join(missed)
        # No less either: a write that nobody was asked for.
        assert asked == [task.yes for task in TASKS]
        assert all(outcome.had_difference for _task, outcome in outcomes)

    @pytest.mark.parametrize("task", INLINES_ONLY, ids=lambda task: task.text)
    def test_inlines_alone_ask_once(self, people, task):
        outcome = attempt(task, people)

        assert outcome.is_done, told(task, outcome)
        assert outcome.yes == 1
