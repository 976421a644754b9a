"""Whether the person who started a run is still the one who may go on."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from ai_assistant.exceptions import Refused
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import (
    AccessRevoked,
    check_may_write,
    check_user,
    password_digest,
    session_digest,
    session_stamp,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def user():
    return get_user_model().objects.create_superuser("ada", password="first")


class TestStamp:
    def test_holds_digests_and_no_values(self, client, rf, user):
        client.force_login(user)
        request = rf.get("/")
        request.session, request.user = client.session, user

        taken = session_stamp(request)

        assert taken.session_digest == session_digest(client.session.session_key)
        assert client.session.session_key not in repr(taken)
        assert taken.password_digest == password_digest(user)
        assert taken.lasts_s > 0
        assert taken.ends_at() > timezone.now()

    def test_sessions_differ(self):
        assert session_digest("a") != session_digest("b")
        assert len(session_digest("a")) == 64


class TestCheckUser:
    def run(self, user):
        return Run(password_digest=password_digest(user))

    def test_check_user_lets_the_same_go_on(self, user):
        check_user(self.run(user), user)

    def test_check_user_without_a_password(self, user):
        check_user(Run(), user)

    @pytest.mark.parametrize(
        ("changed", "code"),
        [
            ({"is_active": False}, "deactivated"),
            ({"is_staff": False}, "permission"),
            ({"is_superuser": False}, "permission"),
        ],
    )
    def test_revoked(self, user, changed, code):
        run = self.run(user)
        for name, value in changed.items():
            setattr(user, name, value)

        with pytest.raises(AccessRevoked) as revoked:
            check_user(run, user)

        assert revoked.value.code == code

    def test_who_is_gone(self, user):
        with pytest.raises(AccessRevoked) as revoked:
            check_user(self.run(user), None)

        assert revoked.value.code == "deactivated"

    def test_another_password(self, user):
        run = self.run(user)
        user.set_password("second")

        with pytest.raises(AccessRevoked) as revoked:
            check_user(run, user)

        assert revoked.value.code == "password"

    def test_user_model_without_a_hash(self):
        assert password_digest(AnonymousUser()) == ""


class TestCheckMayWrite:
    def test_session_that_is_good(self):
        check_may_write(Run(session_expires_at=timezone.now() + timedelta(minutes=1)))
        check_may_write(Run(session_expires_at=None))

    def test_session_that_expired(self):
        run = Run(session_expires_at=timezone.now() - timedelta(seconds=1))

        with pytest.raises(Refused) as refused:
            check_may_write(run)

        assert refused.value.code == "session_expired"
        assert not isinstance(refused.value, AccessRevoked)
