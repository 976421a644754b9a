"""Retry and Continue are new runs that go on where an ended one stands."""

import uuid

import pytest
from django.contrib.auth import get_user_model

from ai_assistant.engine.intake.retries import again_submission, beginning
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.exceptions import ModelError, Refused
from ai_assistant.models.conversation import Conversation
from ai_assistant.models.run import Run
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.testing import call, reply
from tests.engine.conftest import carry_on, said

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def once_more(user):
    def start(run, key="k"):
        sent = again_submission(
            user.pk, run.pk, key, SessionStamp(session_digest="new")
        )
        return accept(sent, owner=this_process())

    return start


class TestAgain:
    def test_retry_asks_the_question_anew(self, play, script, once_more):
        script.add(["Half", ModelError("cut")], "Whole.")
        failed = play("What?", page_path="/admin/")

        run = carry_on(once_more(failed).hold)

        assert (run.state, said(run)) == ("succeeded", "Whole.")
        assert (run.continues_id, run.page_path) == (failed.pk, "/admin/")
        assert (failed.kind, run.kind) == ("message", "retry")
        assert run.messages.get(role="user").origin == "person"
        assert run.session_digest == "new"
        # It stands beside the first try, and is told nothing of it.
        assert run.after_id == failed.after_id
        assert [m["content"] for m in script.requests[1].messages[1:]] == ["What?"]

    def test_continue_goes_on(self, play, script, options, once_more):
        options(LIMITS={"STEPS": 1})
        script.add(reply("One.", call("echo", {"text": "a"})), "Two.")
        limited = play("Count")

        run = carry_on(once_more(limited).hold)

        assert (run.state, said(run)) == ("succeeded", "Two.")
        message = run.messages.get(role="user")
        assert (run.kind, message.text, message.origin) == ("continue", "Go on.", "app")
        assert run.after_id == limited.pk
        roles = [m["role"] for m in script.requests[1].messages[1:]]
        assert roles == ["user", "assistant", "tool", "user"]

    def test_retry_of_going_on_is_one_that_nobody_typed(
        self, play, script, options, once_more
    ):
        options(LIMITS={"STEPS": 1})
        script.add(reply("One.", call("echo", {"text": "a"})), ModelError("cut"))
        limited = play("Count")
        failed = carry_on(once_more(limited).hold)
        script.add("Two.")

        run = carry_on(once_more(failed).hold)

        assert (run.state, run.after_id) == ("succeeded", limited.pk)
        assert run.messages.get(role="user").origin == "app"
        assert run.kind == "continue"

    def test_twice_is_once(self, play, script, once_more):
        script.add(ModelError("cut"))
        failed = play()

        first, second = once_more(failed), once_more(failed)

        assert first.run_id == second.run_id
        assert Run.objects.count() == 2

    def test_again_while_running(self, submission, once_more):
        accept(submission())

        with pytest.raises(Refused) as refused:
            once_more(Run.objects.get())

        assert refused.value.code == "not_ended"

    def test_again_of_another_user(self, play, script):
        eve = get_user_model().objects.create_user("eve")
        script.add("Hello.")

        with pytest.raises(Refused) as refused:
            again_submission(eve.pk, play().pk, "k", SessionStamp())

        assert refused.value.code == "not_found"

    def test_again_of_no_run(self, user):
        with pytest.raises(Refused):
            again_submission(user.pk, uuid.uuid4(), "k", SessionStamp())


class TestBeginning:
    @pytest.mark.parametrize("times", [0, 1, 3, 4, 5, 12])
    def test_beginning_is_the_question_that_was_continued(self, user, times):
        conversation = Conversation.objects.create(owner=user)
        kinds = ["message", "message", *times * ["continue"], "message"]
        path = [
            Run.objects.create(
                conversation=conversation,
                user=user,
                kind=kind,
                idempotency_key=str(place),
                state="succeeded",
            ).pk
            for place, kind in enumerate(kinds)
        ]

        assert {beginning(path, place) for place in range(1, 2 + times)} == {1}
        assert beginning(path, 0) == 0
        assert beginning(path, 2 + times) == 2 + times
        conversation.runs.all().delete()  # rows alone: nothing was executed
