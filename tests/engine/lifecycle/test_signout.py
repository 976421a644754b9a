"""A sign-out stops what works for its session, and nothing else."""

import pytest

from ai_assistant.engine.intake.submission import accept
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import SessionStamp, session_digest
from ai_assistant.testing import call, reply

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def signed_in(client, user):
    client.force_login(user)
    return SessionStamp(session_digest=session_digest(client.session.session_key))


@pytest.mark.row("X05")
class TestSignOut:
    def test_sign_out_stops_the_runs_of_the_session(
        self, client, submission, signed_in
    ):
        mine = accept(submission(stamp=signed_in)).run_id
        other = accept(submission()).run_id

        client.logout()

        run = Run.objects.get(pk=mine)
        assert (run.state, run.error_code) == ("cancelled", "signed_out")
        assert run.error_text == "Stopped: you signed out."
        assert Run.objects.get(pk=other).state == "queued"

    def test_sign_out_leaves_what_waits_for_the_person(
        self, client, play, script, options, signed_in
    ):
        options(POLICY={})
        script.add(reply("", call("write_effect", {"key": "a"})))
        run = play(stamp=signed_in)

        client.logout()

        run.refresh_from_db()
        assert run.state == "waiting_approval"

    def test_where_the_assistant_is_off(self, client, submission, signed_in, options):
        accept(submission(stamp=signed_in))
        options(ENABLED=False)

        client.logout()

        assert Run.objects.get().state == "queued"

    def test_sign_out_without_a_session(self, rf):
        from django.contrib.auth.signals import user_logged_out

        user_logged_out.send(sender=None, request=rf.get("/"), user=None)
        user_logged_out.send(sender=None, request=None, user=None)
