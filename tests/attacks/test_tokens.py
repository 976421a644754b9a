"""A program whose token has ended has no effect after that, in whatever state."""

import uuid
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from ai_assistant.engine.lifecycle.revocation import revoke as revoke_token
from ai_assistant.models import clock
from ai_assistant.models.run import Run
from ai_assistant.models.token import AccessToken
from ai_assistant.safety.identity.tokens import issue
from ai_assistant.testing import call, reply
from tests.attacks.person import Person, open_of
from tests.attacks.test_revocation import (
    STATES,
    at,  # noqa: F401 - a fixture
    carry_all_on,
    effects,
)
from tests.attacks.ways import (
    change_password,
    deactivate,
    take_permission,
    take_staff,
    take_use,
)
from tests.engine.conftest import resume
from tests.figures import cell
from tests.testapp.models import Effect
from tests.thorough import part

pytestmark = pytest.mark.django_db(transaction=True)

LASTS = timedelta(minutes=10)
EVERY = ("read", "run", "approve")


class Program(Person):
    """As a person, but what it does are requests with a token."""

    def __init__(self, user, scopes=EVERY):
        self.user = user
        self.client = Client(enforce_csrf_checks=True)
        ends = timezone.now() + LASTS
        self.token, self.secret = issue(user, "program", scopes, ends)

    def post(self, name, fields, **_options):
        if name not in ("say", "answer"):
            return Person(self.user).post(name, fields)  # a page is a person's
        headers = {"Authorization": f"Bearer {self.secret}"}
        return self.client.post(f"/door/{name}/", fields, headers=headers)

    def say(self, text="Hello", run=None, **_fields):
        conversation = run.conversation_id if run else uuid.uuid4()
        answer = self.post("say", {"conversation": conversation, "text": text})
        answer.status_code = 204 if answer.status_code == 200 else answer.status_code
        return answer


@pytest.fixture(autouse=True)
def _door(settings):
    settings.ROOT_URLCONF = "tests.web.door"


@pytest.fixture
def by_token(at, monkeypatch):  # noqa: F811
    now = clock._host_now

    def pass_time():
        monkeypatch.setattr(clock, "_host_now", lambda: now() + 2 * LASTS)

    at.nora = Program(at.nora.user)
    at.nora.pass_time = pass_time
    return at


def revoke(program):
    revoke_token(program.token)


def expire(program):
    """More time passes than the token has."""
    program.pass_time()


def remove(program):
    AccessToken.objects.filter(pk=program.token.pk).delete()


WAYS = (
    *(revoke, expire, remove),
    *(change_password, deactivate, take_staff, take_use, take_permission),
)


# Those of a person are tried in every state already: see test_revocation.
PAIRS = [(state, way) for way in WAYS[:3] for state in STATES]
PAIRS += part([(state, way) for way in WAYS[3:] for state in STATES], every=13)


@pytest.mark.parametrize(
    ("state", "way"), PAIRS, ids=lambda one: getattr(one, "__name__", None)
)
def test_no_effect_after_it(
    by_token, given_out, function_model, state, way, record_property
):
    at = by_token  # noqa: F811
    at.function_model = function_model
    before = []

    def end():
        if not at.is_over:
            way(at.nora)
            at.is_over = True
            before[:] = effects()

    at.revoke = end
    state(at)
    assert at.is_over
    carry_all_on(given_out)

    later = len(effects()) - len(before)
    record_property(*cell("effects after", state.__name__, way.__name__, later))
    assert later == 0


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_without_it_there_is_one(by_token, given_out, function_model, state):
    """Else the above would prove nothing."""
    at = by_token  # noqa: F811
    at.function_model = function_model

    def end():
        at.is_over = True

    at.revoke = end
    state(at)
    carry_all_on(given_out)

    assert effects()


class TestRevocation:
    def started(self, at, *replies):  # noqa: F811
        at.script.add(*replies, *["Done."] * 3)
        assert at.nora.say("Go.").status_code == 204
        return Run.objects.get()

    def test_queued_run_ends_at_once(self, by_token):
        run = self.started(by_token, reply("", call("act")))
        revoke(by_token.nora)
        run.refresh_from_db()

        assert (run.state, run.error_code) == ("cancelled", "token_revoked")
        assert run.error_text == "Stopped: the access token was revoked."

    def test_run_of_another_token_goes_on(self, by_token):
        run = self.started(by_token)
        revoke(Program(by_token.nora.user))

        assert resume(run).state == "succeeded"

    def test_expiry_lets_it_speak(self, by_token):
        """As with a session that expires, only writes end."""
        run = self.started(by_token, reply("", call("act")))
        expire(by_token.nora)
        run = resume(run)

        assert run.state == "succeeded"
        assert "access token has expired" in run.calls.get().result["error"]
        assert not Effect.objects.exists()


class TestAnswers:
    def waiting(self, at):  # noqa: F811
        at.options(POLICY={"act": "ask"})
        at.script.add(reply("", call("act")), *["Done."] * 3)
        at.nora.say("Go.")
        return resume(Run.objects.get())

    def test_person_takes_the_run_over(self, by_token):
        run = self.waiting(by_token)
        revoke(by_token.nora)
        run.refresh_from_db()
        assert run.state == "waiting_approval"

        Person(by_token.nora.user).answer_all(run)
        run.refresh_from_db()

        assert run.token_id is None
        assert run.session_digest
        assert resume(run).state == "succeeded"
        assert Effect.objects.count() == 1

    def test_revoked_token_takes_nothing_over(self, by_token):
        run = self.waiting(by_token)
        revoke(by_token.nora)
        (card,) = open_of(run)

        assert by_token.nora.answer(card).status_code == 401

    def test_token_takes_the_run_of_a_person_over(self, by_token):
        program, by_token.nora = by_token.nora, Person(by_token.nora.user)
        run = self.waiting(by_token)
        assert program.answer(open_of(run)[0]).status_code == 200
        run.refresh_from_db()
        assert run.token_id == program.token.pk
        revoke(program)
        run.refresh_from_db()

        assert run.state == "cancelled"
        assert not Effect.objects.exists()

    @pytest.mark.parametrize("way", ["answer", "say"])
    def test_scope_is_needed(self, by_token, way):
        """A message would deny what waits: that is an answer too."""
        run = self.waiting(by_token)
        narrow = Program(by_token.nora.user, scopes=("read", "run"))
        (card,) = open_of(run)

        answer = narrow.answer(card) if way == "answer" else narrow.say("No.", run)

        assert answer.status_code == 403
        assert answer.json()["code"] == "scope"
        card.refresh_from_db()
        run.refresh_from_db()
        assert (card.status, run.state) == ("open", "waiting_approval")
        assert run.token_id == by_token.nora.token.pk

    def test_answers_of_another_user_are_not_there(self, by_token, user):
        run = self.waiting(by_token)
        stranger = Program(user)

        assert stranger.answer(open_of(run)[0]).status_code == 404
