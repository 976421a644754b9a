"""Who may no longer use the assistant has no run that goes on."""

import pytest
from django.contrib.auth import get_user_model

from ai_assistant.engine.intake.submission import accept
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import SessionStamp, password_digest
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume, statuses
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


def deactivate(user):
    get_user_model().objects.filter(pk=user.pk).update(is_active=False)


def take_staff(user):
    get_user_model().objects.filter(pk=user.pk).update(is_staff=False)


def take_permission(user):
    user.user_permissions.clear()


def change_password(user):
    fresh = get_user_model().objects.get(pk=user.pk)
    fresh.set_password("second")
    fresh.save()


WAYS = [
    (deactivate, "deactivated"),
    (take_staff, "permission"),
    (take_permission, "permission"),
    (change_password, "password"),
]


@pytest.fixture
def stamp(staff):
    return SessionStamp(password_digest=password_digest(staff))


@pytest.mark.parametrize(("revoke", "code"), WAYS)
class TestRevoked:
    def test_revoked_before_it_begins(
        self, submission, script, staff, stamp, revoke, code
    ):
        accept(submission(user_id=staff.pk, stamp=stamp))
        revoke(staff)

        run = resume(Run.objects.get())

        assert (run.state, run.error_code) == ("cancelled", code)
        assert run.error_text.startswith("Stopped: ")
        assert script.requests == []

    @pytest.mark.parametrize("effect", ["read", "write", "external"])
    def test_revoked_between_two_calls(
        self, play, script, offer, staff, stamp, revoke, code, effect
    ):
        done = []
        offer(lambda: revoke(staff), name="revoke", effect="write", policy="allow")
        offer(
            lambda: done.append(1),
            name="act",
            effect="read" if effect == "read" else "write",
            external=effect == "external",
            policy="allow",
        )
        script.add(reply("", call("revoke"), call("act")), "Never said.")

        run = play(user_id=staff.pk, stamp=stamp)

        assert (run.state, run.error_code) == ("cancelled", code)
        assert statuses(run) == ["complete", "cancelled"]
        assert done == []

    def test_revoked_while_a_tool_prepares(
        self, play, script, offer, staff, stamp, revoke, code
    ):
        def prepare() -> None:
            revoke(staff)

        def act() -> None:
            Effect.objects.create(key="a", run="0" * 32)

        offer(act, effect="write", policy="allow", prepare=prepare)
        script.add(reply("", call("act")), "Never said.")

        run = play(user_id=staff.pk, stamp=stamp)

        assert (run.state, run.error_code) == ("cancelled", code)
        assert Effect.objects.count() == 0


class TestUserIsGone:
    def test_and_the_run_with_them(self, play, script, offer, staff):
        offer(lambda: staff.delete() and None, name="fire")
        script.add(reply("", call("fire")), "Never said.")

        with pytest.raises(Run.DoesNotExist):
            play(user_id=staff.pk)
