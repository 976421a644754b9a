"""A message to a run that works waits in a row, and is started once, in its turn."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import DataError, IntegrityError, connection
from django.utils import timezone
from django.utils.translation import override

from ai_assistant.engine import service
from ai_assistant.engine.execution import dequeue
from ai_assistant.engine.execution.dequeue import (
    SendNowRequest,
    send_now,
    start_waiting,
)
from ai_assistant.engine.execution.sweep import sweep_once
from ai_assistant.engine.intake.conversations import delete, restore
from ai_assistant.engine.intake.submission import accept
from ai_assistant.engine.lifecycle import queue
from ai_assistant.engine.lifecycle.queue import drop, move
from ai_assistant.engine.lifecycle.revocation import revoke
from ai_assistant.engine.lifecycle.stop import stop
from ai_assistant.engine.queries import queued_messages
from ai_assistant.engine.storage.lease import this_process
from ai_assistant.engine.storage.units import in_db
from ai_assistant.exceptions import Limited, ModelError
from ai_assistant.models import AccessToken, Conversation, Message, QueuedMessage, Run
from ai_assistant.models.run import Channel, StopRequest
from ai_assistant.render.html.transcript.state import queue_entry
from ai_assistant.safety.identity.session import (
    SessionStamp,
    kept_key,
    password_digest,
    session_digest,
)
from ai_assistant.testing import call, reply
from tests.engine.conftest import carry_on, resume
from tests.engine.execution.executor.conftest import booted, until
from tests.engine.people import refusal

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("ui 33")]


@pytest.fixture
def working(submission):
    """A run that works, held by this process."""
    return accept(submission("First"), owner=this_process())


@pytest.fixture
def say(submission, working):
    """Send more to the conversation of that run: `say("Second")`."""

    def send(text, **fields):
        fields = {"key": text, "conversation_id": working.conversation_id, **fields}
        return accept(submission(text, **fields))

    return send


@pytest.fixture
def waits(options):
    """Make a conversation of a user in which it is a message's turn: `waits(user)`."""
    options(LIMITS={"RUNS_PER_USER": 99})

    def make(user):
        conversation = Conversation.objects.create(owner=user, title="Waits")
        fields = {"conversation": conversation, "user": user}
        digest = password_digest(user)
        key = str(conversation.pk)
        Run.objects.create(**fields, idempotency_key=key, state="succeeded")
        QueuedMessage.objects.create(
            **fields,
            key=f"{key[:8]} next",
            position=0,
            password_digest=digest,
            text="Go",
        )
        return conversation.pk

    yield make
    Conversation.objects.filter(title="Waits").delete()  # no model was asked for them


@pytest.fixture
def wanted(working, user):
    """What a person says who presses a button of the queue."""

    def make(text=""):
        row = QueuedMessage.objects.filter(text=text).first() if text else None
        return SendNowRequest(
            user_id=user.pk,
            conversation_id=working.conversation_id,
            stamp=SessionStamp(password_digest=password_digest(user)),
            queued_id=row.pk if row else None,
        )

    return make


def texts():
    """Return what waits, in order."""
    return list(
        QueuedMessage.objects.filter(dropped_at=None).values_list("text", flat=True)
    )


def asked():
    """Return what was said, in order."""
    rows = Message.objects.filter(role="user").order_by("position")
    return [message.text for message in rows]


def start_and_end(script):
    """Start what waits, and execute it to its end; return its run, if there is one."""
    script.add("An answer.")
    for accepted in start_waiting():
        return resume(Run.objects.get(pk=accepted.run_id))
    return None


class TestAccept:
    def test_a_message_to_a_run_that_works_is_stored(self, say, working):
        accepted = say(
            "Second",
            page_path="/admin/auth/user/",
            page_title="Users",
            context={"dropped": ["a"]},
            look_only=True,
            profile="other",
        )

        row = QueuedMessage.objects.get()
        assert (accepted.run_id, accepted.is_new) == (working.run_id, False)
        assert (accepted.queued, accepted.hold) == (row.pk, None)
        assert (row.text, row.page_path, row.page_title) == (
            "Second",
            "/admin/auth/user/",
            "Users",
        )
        assert (row.context, row.look_only) == ({"dropped": ["a"]}, True)
        assert (row.profile, asked()) == ("other", ["First"])

    def test_accept_of_several_keeps_the_order(self, say):
        for text in ("Second", "Third", "Fourth"):
            say(text)

        assert texts() == ["Second", "Third", "Fourth"]

    def test_accept_of_the_same_key_is_one_row(self, say):
        assert say("Second").queued == say("Second").queued
        assert texts() == ["Second"]

    def test_accept_of_the_same_key_at_the_same_moment_is_one_row(self, say):
        def one(_number):
            try:
                return say("Second").queued
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            found = set(pool.map(one, range(4)))

        assert len(found) == 1
        assert texts() == ["Second"]

    def test_accept_of_a_key_that_was_started_already_is_that_run(
        self, say, working, script
    ):
        say("Second")
        script.add("An answer.")
        carry_on(working.hold)
        run = start_and_end(script)

        again = say("Second")

        assert (again.run_id, again.queued, again.is_new) == (run.pk, None, False)
        assert (asked(), texts()) == (["First", "Second"], [])

    def test_accept_of_a_key_that_was_dropped_adds_nothing(self, say, user, working):
        queued = say("Second").queued
        drop(user.pk, working.conversation_id, queued)

        say("Second")

        assert (texts(), asked()) == ([], ["First"])
        assert QueuedMessage.objects.get().text == ""

    def test_accept_of_a_key_that_was_dropped_is_not_told_to_the_run(
        self, say, user, working
    ):
        say("Second")
        drop(user.pk, working.conversation_id, QueuedMessage.objects.get().pk)

        accepted = say("Second", steers=True)

        assert accepted.queued == QueuedMessage.objects.get().pk
        assert QueuedMessage.objects.get().told_run is None

    def test_accept_holds_no_key_of_the_site(self, say, settings):
        settings.SECRET_KEY = "the-secret-key-of-this-site"

        say("It is the-secret-key-of-this-site.")

        assert "the-secret-key" not in QueuedMessage.objects.get().text

    def test_accept_of_too_many_is_refused(self, say, monkeypatch):
        monkeypatch.setattr(queue, "MOST", 2)
        say("Second")
        say("Third")

        assert refusal(lambda: say("Fourth")) == "queue_full"

    def test_accept_of_a_client_of_agui_is_refused(self, say):
        assert refusal(lambda: say("Second", channel=Channel.AGUI)) == "busy"
        assert texts() == []

    def test_accept_between_two_answers_stands_behind_those_that_wait(
        self, say, working, script
    ):
        say("Second")
        script.add("An answer.")
        carry_on(working.hold)

        accepted = say("Third")  # before anybody has started the second

        assert accepted.queued is not None
        start_and_end(script)
        start_and_end(script)
        assert asked() == ["First", "Second", "Third"]


class TestStart:
    def test_start_is_in_order_and_as_it_was_sent(self, say, working, script):
        say("Second", page_path="/admin/auth/user/", look_only=True)
        say("Third")
        script.add("An answer.")
        carry_on(working.hold)

        second, third = start_and_end(script), start_and_end(script)

        assert asked() == ["First", "Second", "Third"]
        assert (second.state, second.page_path) == ("succeeded", "/admin/auth/user/")
        assert (second.look_only, third.look_only) == (True, False)
        assert (second.after_id, third.after_id) == (working.run_id, second.pk)
        assert not QueuedMessage.objects.exists()
        assert start_waiting() == []

    def test_start_speaks_as_the_page_did(self, say, working, script):
        with override("de"):
            say("Second")
        script.add("An answer.")
        carry_on(working.hold)

        assert start_and_end(script).language == "de"

    def test_start_waits_for_the_end(self, say):
        say("Second")

        assert start_waiting() == []

    def test_start_of_two_processes_is_once(self, say, working, script):
        say("Second")
        script.add("An answer.")
        carry_on(working.hold)

        def one(_number):
            try:
                return len(start_waiting())
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(one, range(4))) == 1

        assert asked() == ["First", "Second"]
        (run,) = Run.objects.exclude(pk=working.run_id)
        assert run.idempotency_key == "Second"
        stop(run.pk)

    def test_start_is_done_by_the_process_that_ends_the_run(
        self, submission, function_model, user
    ):
        """Without a further request: nobody looks on."""
        first = submission("First")
        said = []

        async def model(request):
            if not said:
                for text in ("Second", "Third"):
                    more = {"key": text, "conversation_id": first.conversation_id}
                    await service.send(submission(text, **more))
            said.append(request.messages[-1]["content"])
            return reply("An answer.")

        function_model(model)

        def all_have_ended():
            return Run.objects.filter(state="succeeded").count() == 3

        async def scenario():
            async with booted():
                await service.send(first)
                await until(all_have_ended)

        asyncio.run(scenario())

        assert asked() == ["First", "Second", "Third"]
        assert not QueuedMessage.objects.exists()

    def test_start_waits_while_too_many_others_work(
        self, say, working, script, submission, options
    ):
        options(LIMITS={"RUNS_PER_USER": 1})
        say("Second")
        script.add("An answer.")
        carry_on(working.hold)
        other = accept(submission("Elsewhere"))

        assert start_waiting() == []
        stop(other.run_id)
        assert start_and_end(script).state == "succeeded"

    def test_oldest_comes_first(self, waits, user):
        conversations = [waits(user) for _ in range(8)]
        assert sorted(conversations) != conversations

        assert [one.conversation_id for one in start_waiting()] == conversations

    def test_oldest_is_that_of_the_database(self, waits, user):
        """A message that was moved to the front is no older for it."""
        first, second = waits(user), waits(user)
        rows = QueuedMessage.objects.filter
        late = rows(conversation=first).get()
        late.pk, late.key, late.position = None, "late", 0
        rows(conversation=first).update(position=1)
        late.save(force_insert=True)

        assert [one.conversation_id for one in start_waiting()] == [first, second]

    def test_start_of_who_has_to_wait_holds_nobody_up(
        self, waits, user, staff, options, monkeypatch
    ):
        monkeypatch.setattr(dequeue, "CONVERSATIONS_AT_ONCE", 2)
        full = [waits(user) for _ in range(5)]
        other = waits(staff)
        options(LIMITS={"RUNS_PER_USER": 1})
        started = []

        for _look in range(8):
            started += [one.conversation_id for one in start_waiting()]

        assert started == [full[0], other]
        stop(Run.objects.get(conversation=full[0], state="queued").pk)
        for _look in range(3):
            started += [one.conversation_id for one in start_waiting()]
        assert len(started) == 3

    def test_start_at_a_limit_pauses(self, say, working, script, options, wanted):
        say("Second")
        script.add("An answer.")
        carry_on(working.hold)
        options(RATES={"USER": "1/m"})

        assert start_waiting() == []
        assert QueuedMessage.objects.get().held == "limited"
        with pytest.raises(Limited):
            send_now(wanted())
        options(RATES={"USER": "9/m"})
        assert start_waiting() == []  # not unasked
        assert send_now(wanted()).is_new
        stop(Run.objects.latest("created_at").pk)

    def test_start_that_fails_by_a_fault_of_ours_does_not_go_round(
        self, say, working, script, monkeypatch, caplog
    ):
        say("Second")
        script.add("An answer.")
        carry_on(working.hold)
        monkeypatch.setattr(dequeue, "_begin", lambda *_said: 1 / 0)

        assert (start_waiting(), start_waiting()) == ([], [])
        assert len(caplog.records) == 1
        assert QueuedMessage.objects.get().held == "failed"

    def test_start_of_a_key_that_was_sent_elsewhere_meanwhile_is_none(
        self, say, submission, working, script
    ):
        script.add("An answer.")
        carry_on(working.hold)
        other = accept(submission("Elsewhere"))
        QueuedMessage.objects.create(  # both were sent at the same moment
            conversation_id=working.conversation_id,
            user_id=Run.objects.get(pk=working.run_id).user_id,
            key=Run.objects.get(pk=other.run_id).idempotency_key,
            position=0,
            text="Elsewhere",
        )

        start_waiting()

        assert texts() == []
        assert asked().count("Elsewhere") == 1

    @pytest.mark.parametrize("error", [IntegrityError, DataError])
    def test_start_that_the_database_refuses_stops_no_other_queue(
        self, say, submission, working, script, monkeypatch, error
    ):
        other = accept(submission("Other"), owner=this_process())
        fields = {"conversation_id": other.conversation_id}
        accept(submission("Other second", **fields))
        say("Second")
        for accepted in (working, other):
            script.add("An answer.")
            carry_on(accepted.hold)
        begin = dequeue.begin

        def refuse(conversation, submission, *rest):
            if submission.text == "Second":
                raise error("refused")
            return begin(conversation, submission, *rest)

        monkeypatch.setattr(dequeue, "begin", refuse)

        start_waiting()
        start_waiting()

        assert texts() == ["Second"]
        assert QueuedMessage.objects.get().held == "failed"


class TestPause:
    def test_pause_after_a_stop(self, say, working, wanted, script):
        say("Second")
        stop(working.run_id)
        carry_on(working.hold)

        assert start_waiting() == []
        accepted = send_now(wanted())
        assert accepted.is_new
        script.add("An answer.")
        assert resume(Run.objects.get(pk=accepted.run_id)).state == "succeeded"

    def test_pause_after_a_stop_that_came_as_the_run_succeeded(
        self, say, working, wanted, script, function_model
    ):
        async def model(_request):
            await in_db(stop, working.run_id)  # nobody tells the task
            return reply("An answer.")

        function_model(model)
        say("Second")

        assert carry_on(working.hold).state == "succeeded"
        assert start_waiting() == []
        assert queue_entry(working.conversation_id)["why"].endswith("just as it ended.")
        assert not queue_entry(working.conversation_id)["goes_on"]
        direct = say("Third")
        assert direct.is_new  # as after any pause
        stop(direct.run_id)
        assert send_now(wanted()).is_new
        stop(Run.objects.latest("created_at").pk)

    def test_pause_after_a_stop_that_nobody_has_noted(self, say, working, script):
        """It was stored behind the last look of the run at it."""
        say("Second")
        script.add("An answer.")
        run = carry_on(working.hold)
        StopRequest.objects.create(run=run, code="stopped")

        assert (run.state, start_waiting()) == ("succeeded", [])
        sweep_once()
        assert not StopRequest.objects.exists()
        assert (start_waiting(), texts()) == ([], ["Second"])

    def test_pause_not_after_a_stop_of_what_had_ended(self, say, working, script):
        say("Second")
        script.add("An answer.")
        carry_on(working.hold)

        assert stop(working.run_id).ended
        assert start_and_end(script).state == "succeeded"

    def test_pause_after_a_failure(self, say, working, function_model):
        async def model(_request):
            raise ModelError("auth", "no")

        function_model(model)
        say("Second")

        assert carry_on(working.hold).state == "failed"
        assert (start_waiting(), texts()) == ([], ["Second"])

    def test_pause_is_over_when_a_later_answer_ends_well(self, say, working, script):
        say("Second")
        stop(working.run_id)
        carry_on(working.hold)
        direct = say("Third")
        assert direct.is_new
        script.add("An answer.")
        resume(Run.objects.get(pk=direct.run_id))

        start_and_end(script)

        assert asked() == ["First", "Third", "Second"]

    def test_pause_while_a_person_is_asked(self, options, submission, script):
        options(POLICY={})
        first = accept(submission("First"), owner=this_process())
        conversation = {"conversation_id": first.conversation_id}
        accept(submission("Second", **conversation))
        script.add(reply("", call("write_effect", {"key": "a"})))
        run = carry_on(first.hold)

        assert run.state == "waiting_approval"
        assert (start_waiting(), texts()) == ([], ["Second"])
        stop(run.pk)


class TestPerson:
    """It starts only if its person could send it now."""

    @pytest.fixture
    def ended(self, say, working, script):
        """End the run, with a message behind it that was sent with this stamp."""

        def end(**stamp):
            say("Second", stamp=SessionStamp(**stamp))
            script.add("An answer.")
            carry_on(working.hold)

        return end

    def held(self):
        assert start_waiting() == []
        return QueuedMessage.objects.get().held

    def test_who_was_deactivated(self, ended, user):
        ended()
        user.is_active = False
        user.save()

        assert self.held() == "deactivated"

    def test_who_may_use_it_no_more(self, ended, user):
        ended()
        user.is_superuser = False
        user.save()

        assert self.held() == "permission"

    def test_whose_password_has_changed(self, ended, user):
        ended(password_digest=password_digest(user))
        user.set_password("second")
        user.save()

        assert self.held() == "password"

    def test_whose_session_has_expired(self, ended):
        ended(expires_at=timezone.now() - timedelta(seconds=1))

        assert self.held() == "session_expired"

    def test_whose_session_was_removed(self, ended):
        session = SessionStore()
        session.create()
        ended(session_sealed=kept_key(session))
        session.delete()

        assert self.held() == "session_removed"

    def test_who_signs_out(self, ended, client, user):
        client.force_login(user)
        ended(session_digest=session_digest(client.session.session_key))

        client.logout()  # as of this session only: the user may well be signed in
        queue.hold_session(QueuedMessage.objects.get().session_digest)

        assert self.held() == "signed_out"

    def test_whose_token_is_revoked(self, ended, user):
        token = AccessToken.objects.create(
            user=user, name="t", digest="d", expires_at=timezone.now()
        )
        ended(token_id=token.pk)

        revoke(token)

        assert self.held() == "signed_out"

    def test_person_goes_on_for_the_session_in_which_it_is_resumed(
        self, ended, wanted, user, script
    ):
        ended(expires_at=timezone.now() - timedelta(seconds=1))
        assert self.held() == "session_expired"

        accepted = send_now(wanted())

        run = Run.objects.get(pk=accepted.run_id)
        assert run.password_digest == password_digest(user)
        script.add("An answer.")
        assert resume(run).state == "succeeded"


class TestConversation:
    def test_conversation_that_is_deleted_starts_nothing(
        self, say, working, user, script
    ):
        say("Second")
        script.add("An answer.")
        carry_on(working.hold)
        delete(user.pk, working.conversation_id)

        assert start_waiting() == []
        restore(user.pk, working.conversation_id)
        assert start_and_end(script).state == "succeeded"

    def test_conversation_that_is_deleted_for_good_takes_them_along(self, say, working):
        say("Second")
        stop(working.run_id)
        carry_on(working.hold)

        Conversation.objects.all().delete()

        assert not QueuedMessage.objects.exists()

    def test_conversation_of_another_person(self, say, working, staff, wanted):
        queued = say("Second").queued
        place = (staff.pk, working.conversation_id, queued)

        assert refusal(lambda: drop(*place)) == "not_found"
        assert refusal(lambda: move(*place, by=1)) == "not_found"
        foreign = SendNowRequest(
            user_id=staff.pk,
            conversation_id=working.conversation_id,
            stamp=SessionStamp(),
            queued_id=queued,
        )
        assert refusal(lambda: send_now(foreign)) == "not_found"
        assert texts() == ["Second"]


class TestChange:
    def test_change_moves(self, say, working, user):
        rows = [say(text).queued for text in ("Second", "Third", "Fourth")]

        move(user.pk, working.conversation_id, rows[0], by=1)
        assert texts() == ["Third", "Second", "Fourth"]
        move(user.pk, working.conversation_id, rows[2], by=-9)
        assert texts() == ["Fourth", "Third", "Second"]

    def test_change_of_what_the_run_is_to_read_is_refused(
        self, say, working, wanted, user
    ):
        say("Second")
        conversation = working.conversation_id
        send_now(wanted("Second"))  # in another tab
        row = QueuedMessage.objects.get()

        assert refusal(drop, user.pk, conversation, row.pk) == "sent"

        assert texts() == ["Second"]

    def test_change_of_what_the_run_has_not_read_is_possible_at_its_end(
        self, say, working, wanted, user
    ):
        say("Second")
        send_now(wanted("Second"))
        stop(working.run_id)
        carry_on(working.hold)

        drop(user.pk, working.conversation_id, QueuedMessage.objects.get().pk)

        assert texts() == []

    def test_change_of_what_has_gone_is_refused(self, say, working, user):
        queued = say("Second").queued
        drop(user.pk, working.conversation_id, queued)

        assert refusal(lambda: drop(user.pk, working.conversation_id, queued)) == "sent"


class TestSendNow:
    def test_send_now_is_started_before_the_others(self, say, working, wanted, script):
        say("Second")
        say("Third")
        stop(working.run_id)
        carry_on(working.hold)

        accepted = send_now(wanted("Third"))
        script.add("An answer.")
        resume(Run.objects.get(pk=accepted.run_id))

        start_and_end(script)
        assert asked() == ["First", "Third", "Second"]

    def test_send_now_is_read_by_the_next_step_and_waits_till_then(
        self, say, working, wanted, function_model
    ):
        asked_with = []

        def press():
            send_now(wanted("Second"))
            return [row.told_run for row in queued_messages(working.conversation_id)]

        async def model(request):
            asked_with.append([one["content"] for one in request.messages])
            if len(asked_with) > 1:
                return reply("Done.")
            assert await in_db(press) == [working.run_id]
            return reply("First.", call("echo", {"text": "a"}))

        function_model(model)
        say("Second")

        run = carry_on(working.hold)

        assert run.state == "succeeded"
        assert asked_with[1][-1] == "Second"
        assert (texts(), asked()) == ([], ["First", "Second"])

    def test_send_now_that_no_step_has_read_is_the_next_message(
        self, say, working, wanted, function_model
    ):
        pressed = []

        async def model(_request):
            if not pressed:
                pressed.append(await in_db(lambda: send_now(wanted("Second"))))
            return reply("An answer.")

        function_model(model)
        say("Second")
        carry_on(working.hold)
        assert texts() == ["Second"]

        (accepted,) = start_waiting()
        resume(Run.objects.get(pk=accepted.run_id))
        assert asked() == ["First", "Second"]

    def test_send_now_of_several_are_told_in_the_order_of_the_presses(
        self, say, working, wanted
    ):
        for text in ("Second", "Third", "Fourth"):
            say(text)

        send_now(wanted("Third"))
        send_now(wanted("Fourth"))

        assert texts() == ["Third", "Fourth", "Second"]

    def test_send_now_that_the_run_does_not_take_still_waits(self, say, wanted):
        say("Second", look_only=True)

        assert refusal(lambda: send_now(wanted("Second"))) == "busy"
        assert QueuedMessage.objects.get().told_run is None

    def test_send_now_is_the_answer_to_what_is_asked(
        self, options, submission, script, user
    ):
        options(POLICY={})
        first = accept(submission("First"), owner=this_process())
        queued = accept(submission("No", conversation_id=first.conversation_id)).queued
        script.add(reply("", call("write_effect", {"key": "a"})), "Left.")
        run = carry_on(first.hold)
        assert run.state == "waiting_approval"

        accepted = send_now(
            SendNowRequest(
                user_id=user.pk,
                conversation_id=first.conversation_id,
                stamp=SessionStamp(),
                queued_id=queued,
            )
        )

        assert accepted.woken
        assert resume(run).state == "succeeded"
        assert (texts(), asked()) == ([], ["First", "No"])
