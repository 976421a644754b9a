"""A session that somebody has removed: its runs end, its key is nowhere to be read."""

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session

from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import is_removed
from ai_assistant.testing import call, reply
from tests.attacks.person import Person, card, go_on
from tests.attacks.ways import remove_session
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def waiting(user, script, options):
    """A person, and a run of hers that waits for her approval."""
    options(POLICY={})
    script.add(reply("", call("write_effect", {"key": "a"})), *["Done."] * 2)
    person = Person(user)
    run = person.ask("Do it.")
    assert run.state == "waiting_approval"
    return person, run


def test_key_is_nowhere_in_clear(waiting):
    person, run = waiting
    key = person.client.session.session_key
    models = apps.get_app_config("ai_assistant").get_models()
    ours = str([list(model.objects.values()) for model in models])

    assert key not in ours
    assert run.session_sealed in ours


def test_key_goes_with_the_end_of_the_run(waiting):
    person, run = waiting
    person.answer(card(run))

    ended = go_on(run)

    assert (ended.state, ended.session_sealed) == ("succeeded", "")
    assert Effect.objects.count() == 1


def test_run_ends_at_the_next_check(waiting):
    person, run = waiting
    person.answer(card(run))
    remove_session(person)

    ended = go_on(run)

    assert (ended.state, ended.error_code) == ("cancelled", "session_removed")
    assert ended.error_text == "Stopped: your session has ended."
    assert not Effect.objects.exists()


def test_what_waits_goes_on_in_the_session_of_its_answer(waiting):
    person, run = waiting
    remove_session(person)
    again = Person(person.user)

    again.answer(card(run))

    taken = Run.objects.get(pk=run.pk)
    assert taken.session_sealed != run.session_sealed
    assert not is_removed(taken.session_sealed)
    assert go_on(run).state == "succeeded"
    assert Effect.objects.count() == 1


def test_other_sessions_of_the_person_are_let_alone(waiting):
    person, run = waiting
    other = Person(person.user)
    person.answer(card(run))

    remove_session(other)

    assert go_on(run).state == "succeeded"
    assert Session.objects.count() == 1
