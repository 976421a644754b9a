"""What has changed between a question and its answer."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from ai_assistant import RunContext
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import SessionStamp, password_digest
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume, statuses
from tests.engine.people import given, refusal
from tests.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)


class TestPermissionsMeanwhile:
    @pytest.fixture
    def guarded(self, asks, offer, staff):
        permission = Permission.objects.get(codename="add_user")
        staff.user_permissions.add(permission)

        def add(context: RunContext) -> str:
            Effect.objects.create(key="a", run=context.run_id)
            return "ok"

        offer(add, effect="write", permission="auth.add_user")
        return permission

    def test_lost_before_the_approval(self, guarded, play, script, staff):
        script.add(reply("", call("add")), "Done.")
        run = play(user_id=staff.pk)
        staff.user_permissions.remove(guarded)

        assert refusal(answer, given(run, "approve")) == "permission"
        run.refresh_from_db()
        assert run.state == "waiting_approval"

    def test_lost_after_the_approval(self, guarded, play, script, staff):
        script.add(reply("", call("add")), "I see.")
        run = play(user_id=staff.pk)
        answer(given(run, "approve"))
        staff.user_permissions.remove(guarded)

        run = resume(run)

        assert run.calls.get().result["error_type"] == "permission"
        assert (run.state, Effect.objects.count()) == ("succeeded", 0)

    def test_right_to_use_lost(self, guarded, play, script, staff):
        script.add(reply("", call("add")), "I see.")
        run = play(user_id=staff.pk)
        staff.user_permissions.clear()

        assert refusal(answer, given(run, "approve")) == "permission"


class TestSessionOfTheAnswer:
    """The session that began the run may have ended; that of the answer counts."""

    def stamp_of(self, user, **fields):
        user.refresh_from_db()
        soon = timezone.now() + timedelta(hours=1)
        fields.setdefault("expires_at", soon)
        return SessionStamp(password_digest=password_digest(user), **fields)

    def test_session_of_the_answer_replaces_an_expired_one(
        self, asks, play, script, user
    ):
        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")
        run = play(stamp=self.stamp_of(user))
        Run.objects.update(session_expires_at=timezone.now() - timedelta(days=1))

        answer(given(run, "approve", stamp=self.stamp_of(user, session_digest="new")))

        run = resume(run)
        assert statuses(run) == ["complete"]
        assert run.session_digest == "new"

    def test_session_of_the_answer_replaces_one_with_the_former_password(
        self, asks, play, script, user
    ):
        script.add(reply("", call("write_effect", {"key": "a"})), "Done.")
        run = play(stamp=self.stamp_of(user))
        user.set_password("second")
        user.save()

        assert refusal(answer, given(run, "approve")) == "password"
        answer(given(run, "approve", stamp=self.stamp_of(user)))

        assert resume(run).state == "succeeded"

    def test_message_brings_its_own(self, asks, play, script, user, submission):
        script.add(reply("", call("write_effect", {"key": "a"})), "I see.")
        run = play(stamp=self.stamp_of(user, session_digest="old"))
        user.set_password("second")
        user.save()
        stamp = self.stamp_of(user, session_digest="new")

        accept(submission("No", conversation_id=run.conversation_id, stamp=stamp))

        run = resume(run)
        assert (run.state, run.session_digest) == ("succeeded", "new")


class TestPolicyMeanwhile:
    def test_stricter_after_the_approval(self, waiting, options):
        answer(given(waiting, "approve"))
        options(POLICY={"write_effect": "deny"})

        run = resume(waiting)

        assert run.calls.get().result["error_type"] == "policy"
        assert (run.state, Effect.objects.count()) == ("succeeded", 0)

    def test_milder_after_the_question(self, waiting, options):
        options(POLICY={"write_effect": "allow"})
        answer(given(waiting, "approve"))

        assert resume(waiting).calls.get().status == "complete"
