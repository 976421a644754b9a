"""Runs that code of the site starts: what is stored, for whom, and what is refused."""

import asyncio
import uuid

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.db import connection, transaction
from django.db.models.signals import post_save
from django.urls import reverse
from django.utils.translation import gettext_lazy

import ai_assistant
from ai_assistant.engine.execution.dequeue import (
    SendNowRequest,
    send_now,
    start_waiting,
)
from ai_assistant.engine.intake import starts
from ai_assistant.engine.interrupts.answers import answer
from ai_assistant.engine.queries import count_unread
from ai_assistant.engine.storage import units
from ai_assistant.exceptions import Refused
from ai_assistant.models.conversation import Conversation, QueuedMessage
from ai_assistant.models.run import Run
from ai_assistant.models.usage import Budget
from ai_assistant.registry import registry
from ai_assistant.request_context import at_depth
from ai_assistant.safety.identity.session import SessionStamp
from ai_assistant.signals import run_finished
from ai_assistant.testing import call, reply
from tests.engine.conftest import resume, said, statuses
from tests.engine.people import at_once, given
from tests.testapp.models import Effect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.row("P05")]


@pytest.fixture
def start(user):
    """Start a run for Ada: `start("Is anything low?")`."""

    def begin(text="Is anything low?", **fields):
        fields.setdefault("user", user)
        return ai_assistant.start(text=text, **fields)

    return begin


def refused(start, text="Hello", **fields):
    """Return code and sentence of what is refused; nothing is stored by it."""
    before = Run.objects.count(), QueuedMessage.objects.count()
    with pytest.raises(Refused) as caught:
        start(text, **fields)
    assert (Run.objects.count(), QueuedMessage.objects.count()) == before
    return caught.value.code, str(caught.value)


class TestStart:
    def test_start_stores_a_run_that_an_executor_takes(self, start, script):
        script.add("Two are low.")

        started = start()

        assert (started.run.state, started.run.channel) == ("queued", "code")
        run = resume(started.run)
        assert (run.state, said(run)) == ("succeeded", "Two are low.")
        assert run.conversation_id == started.conversation_id

    def test_page_decides_on_module_and_context(self, start, script):
        script.add("Done.")
        page = reverse("admin:auth_group_changelist")

        run = resume(start(page=page).run)

        assert run.page_path == page

    def test_text_may_be_lazy(self, start):
        run = start(gettext_lazy("Is anything low?")).run

        assert run.messages.get().text == "Is anything low?"

    def test_agent_is_that_of_the_run(self, start):
        assert start(agent="analyst").run.agent == "analyst"

    def test_profile_is_that_of_the_run(self, start, options):
        options(PROFILES={"cheap": {"MODEL": "cheap"}})

        assert start(profile="cheap").run.profile == "cheap"

    def test_message_is_shown_as_one_of_code(self, start):
        message = start().run.messages.get()

        assert (message.origin, message.label) == ("code", "data")

    @pytest.mark.parametrize("label", ["data", "site"])
    def test_model_is_told_that_nobody_has_typed_it(self, start, script, label):
        script.add("Done.")

        resume(start(label=label).run)

        asked = script.requests[0].messages[-1]["content"]
        assert asked.startswith("[Sent by code of the site on behalf of the user,")
        assert asked.endswith("\n\nIs anything low?")

    def test_users_own_words_are_told_as_such(self, start, script):
        script.add("Done.")

        resume(start(label="user").run)

        assert script.requests[0].messages[-1]["content"] == "Is anything low?"

    def test_model_is_told_so_in_a_later_message_too(self, start, script, play):
        script.add("One.", "Two.")
        first = resume(start(label="site").run)

        play("And now?", conversation_id=first.conversation_id)

        told = [one["content"] for one in script.requests[1].messages]
        assert told[-3].startswith("[Sent by code of the site")
        assert told[-1] == "And now?"

    def test_slash_is_no_command(self, start, script):
        script.add("Done.")

        run = resume(start("/help me").run)

        assert run.messages.first().text == "/help me"
        assert run.messages.first().command == {}


class TestKey:
    def test_same_key_starts_one_run(self, start):
        first, second = start(key="nightly"), start(key="nightly")

        assert (first.is_new, second.is_new) == (True, False)
        assert first.run_id == second.run_id == Run.objects.get().pk
        assert first.conversation_id == second.conversation_id

    def test_same_key_at_the_same_moment_starts_one_run(self, start):
        works = [lambda: start(key="nightly").run_id] * 4

        assert {*at_once(*works)} == {Run.objects.get().pk}

    def test_same_key_is_another_one_for_another_user(self, start, staff):
        start(key="nightly")
        start(key="nightly", user=staff)

        assert Run.objects.count() == 2

    def test_repeat_after_the_person_has_deleted_it_starts_nothing(self, start):
        started = start(key="nightly")
        Conversation.objects.update(deleted_at="2026-01-01T00:00Z")

        again = start(key="nightly")

        assert (again.is_new, again.run_id) == (False, started.run_id)

    def test_person_cannot_take_the_key_first(self, start, play, script):
        script.add("Mine.")
        play("Hello", key="nightly")

        assert start(key="nightly").is_new

    def test_twice_in_one_transaction_names_the_same_run(self, start):
        with transaction.atomic():
            first, second = start(key="nightly"), start(key="nightly")

        assert first.run_id == second.run_id == Run.objects.get().pk
        assert (first.is_new, second.is_new) == (True, False)


class TestTransaction:
    def test_run_is_there_after_the_commit(self, start):
        with transaction.atomic():
            started = start()
            assert started.run is None

        assert started.run.conversation_id == started.conversation_id

    def test_rolled_back_transaction_starts_nothing(self, start, user):
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            start()
            raise ZeroDivisionError

        assert not Run.objects.exists()
        assert not Conversation.objects.exists()

    def test_what_is_wrong_is_said_before_the_commit(self, start):
        with transaction.atomic():
            assert refused(start, " ")[0] == "empty"

    def test_refusal_after_the_commit_is_kept_and_logged(self, start, options, caplog):
        options(LIMITS={"RUNS_PER_USER": 1})
        start()

        with transaction.atomic():
            late = start()

        assert (late.refused.code, late.run) == ("too_many_runs", None)
        assert f"run {late.run_id} of user" in caplog.text

    def test_without_on_commit_it_is_part_of_the_transaction(self, start):
        with transaction.atomic():
            started = start(on_commit=False)
            assert started.run.state == "queued"

        with pytest.raises(ZeroDivisionError), transaction.atomic():
            gone = start(on_commit=False)
            raise ZeroDivisionError

        assert (started.run.state, gone.run) == ("queued", None)


class TestConversation:
    def test_it_continues_one(self, start, play, script):
        script.add("One.", "Two.")
        first = play("Hello")

        started = start(conversation=first.conversation)
        resume(started.run)

        told = [one["content"] for one in script.requests[1].messages[1:]]
        assert told[:2] == ["Hello", "One."]

    @pytest.mark.parametrize("named", [str, lambda pk: pk, lambda pk: pk.hex])
    def test_it_is_named_by_its_id_too(self, start, script, named):
        script.add("One.")
        first = start()
        resume(first.run)

        started = start(conversation=named(first.conversation_id))

        assert started.conversation_id == first.conversation_id

    def test_in_one_that_works_it_waits_its_turn(self, start, script):
        script.add("One.", "Two.")
        first = start("First")

        second = start("Second", conversation=first.conversation_id)

        assert (second.is_queued, second.run) == (True, None)
        resume(first.run)
        start_waiting()
        assert second.run.start_depth == 1
        assert said(resume(second.run)) == "Two."
        assert second.run.messages.first().label == "data"

    def test_repeat_of_one_that_waits_waits_once(self, start):
        first = start("First")
        where = first.conversation_id
        ids = [start("Second", conversation=where, key="k").run_id for _ in range(2)]

        assert ids == [QueuedMessage.objects.get().pk] * 2

    def test_it_denies_and_answers_nothing_that_waits(self, start, script, play, offer):
        offer(lambda: None, name="act", effect="write")
        script.add(reply("", call("act")))
        run = play("Act")

        started = start("No, do not", conversation=run.conversation_id)

        run.refresh_from_db()
        assert (run.state, started.is_queued) == ("waiting_approval", True)

    def test_nor_does_it_when_the_person_sends_it_now(self, start, script, play, offer):
        offer(lambda: None, name="act", effect="write")
        script.add(reply("", call("act")))
        run = play("Act")
        start("No, do not", conversation=run.conversation_id)
        place = {"user_id": run.user_id, "conversation_id": run.conversation_id}

        send_now(
            SendNowRequest(
                **place, stamp=run_stamp(), queued_id=QueuedMessage.objects.get().pk
            )
        )

        run.refresh_from_db()
        assert run.state == "waiting_approval"
        assert run.messages.last().label == "data"

    def test_another_users_does_not_exist(self, start, staff):
        other = start(user=staff)

        assert refused(start, conversation=other.conversation_id) == (
            "not_found",
            "This conversation does not exist.",
        )

    @pytest.mark.parametrize("named", ["nonsense", uuid.UUID(int=7)])
    def test_one_that_is_not_there_is_not_begun(self, start, named):
        assert refused(start, conversation=named)[0] == "not_found"

    def test_it_does_not_count_as_read_by_its_person(self, start, script, user, play):
        script.add("One.", "Two.")
        first = play("Hello")
        assert count_unread(user.pk) == 1
        resume(start(conversation=first.conversation_id).run)

        assert count_unread(user.pk) == 1

    def test_its_answer_is_unread_news(self, start, script, user):
        script.add("One.")
        assert count_unread(user.pk) == 0
        resume(start().run)

        assert count_unread(user.pk) == 1


def run_stamp():
    return SessionStamp(session_digest="s" * 64)


class TestRefused:
    def test_anonymous_user(self, start):
        assert refused(start, user=AnonymousUser()) == (
            "anonymous",
            "The assistant works for users of this site, and this is none of them.",
        )

    def test_no_user_at_all(self, start):
        assert refused(start, user=None)[0] == "anonymous"

    def test_user_who_was_deleted(self, start):
        gone = get_user_model().objects.create_superuser("gone")
        copy = get_user_model().objects.get(pk=gone.pk)
        gone.delete()

        assert refused(start, user=copy)[0] == "anonymous"

    def test_deactivated_user_as_the_database_has_it(self, start, user):
        get_user_model().objects.update(is_active=False)

        assert refused(start, user=user) == (
            "deactivated",
            "The account “ada” is deactivated: nothing is started for it.",
        )

    @pytest.mark.parametrize("missing", ["view_assistant", "use_assistant"])
    def test_user_without_a_permission(self, start, staff, missing):
        staff.user_permissions.remove(*staff.user_permissions.filter(codename=missing))

        assert refused(start, user=staff) == (
            "permission",
            "“nora” may not use the assistant: nothing is started for them.",
        )

    @pytest.mark.parametrize(
        ("text", "code"),
        [("", "empty"), (" \n", "empty"), ("x" * 10**6, "too_long"), ("a\0", "binary")],
    )
    def test_text_that_cannot_be_sent(self, start, text, code):
        assert refused(start, text)[0] == code

    def test_label_that_there_is_not(self, start):
        assert refused(start, label="mine") == (
            "bad_label",
            "The label 'mine' is unknown. Use 'data', 'site' or 'user'.",
        )

    @pytest.mark.row("D07")
    @pytest.mark.parametrize("rounds", [0, -1, 101])
    def test_rounds_that_are_none(self, start, rounds):
        assert refused(start, context_rounds=rounds) == (
            "bad_rounds",
            f"context_rounds is {rounds}. Use 1 to 100, or leave it out.",
        )

    def test_text_that_is_none(self, start):
        assert refused(start, None)[0] == "empty"

    @pytest.mark.parametrize("page", ["admin/", "https://evil.example/", "/a b"])
    def test_page_that_is_no_path(self, start, page):
        assert refused(start, page=page) == (
            "bad_page",
            f"The page “{page}” is no path of this site. Begin it with “/”.",
        )

    def test_agent_that_there_is_not(self, start):
        code, sentence = refused(start, agent="gone")

        assert (code, "gone" in sentence) == ("no_agent", True)

    def test_profile_that_there_is_not(self, start):
        code, sentence = refused(start, profile="gone")

        assert (code, "'gone'" in sentence) == ("bad_profile", True)

    def test_assistant_that_is_switched_off(self, start, options):
        options(ENABLED=False)

        assert refused(start)[0] == "disabled"

    def test_rate_that_is_used_up(self, start, options):
        options(RATES={"USER": "1/h"})
        start()

        assert refused(start) == (
            "limited",
            "You have sent many messages in a short time.",
        )

    def test_budget_that_is_used_up(self, start, script):
        Budget.objects.create(scope="site", window="day", tokens=1)

        assert refused(start)[0] == "limited"

    def test_site_without_tables(self, start, monkeypatch):
        starts._migrated.clear()
        tables = type(connection.introspection).table_names
        monkeypatch.setattr(
            type(connection.introspection),
            "table_names",
            lambda self, *_: [one for one in tables(self) if "assistant" not in one],
        )
        with pytest.raises(Refused) as caught:
            start()

        assert caught.value.code == "not_migrated"
        assert str(caught.value).endswith("Run “manage.py migrate” first.")


class TestAsync:
    def test_start_on_an_event_loop_names_the_other(self, start):
        async def code():
            start()

        with pytest.raises(Refused, match=r"Await ai_assistant\.astart\(\) instead"):
            asyncio.run(code())

    def test_astart_does_the_same(self, user, script):
        script.add("Done.")

        started = asyncio.run(ai_assistant.astart(user=user, text="Hello", key="k"))

        assert (started.is_new, said(resume(started.run))) == (True, "Done.")

    def test_start_in_a_thread_of_the_loop_is_fine(self, start):
        started = asyncio.run(sync_to_async(start)())

        assert started.run.state == "queued"


class TestChains:
    """Code that starts a run whenever something of a run happens comes to an end."""

    @pytest.fixture
    def on_effect(self, start):
        """A receiver that starts a run for each effect that is written."""
        heard = []

        def begin(**_):
            try:
                heard.append(start("Look at the effect"))
            except Refused as refusal:
                heard.append(refusal)
                raise

        post_save.connect(begin, sender=Effect)
        yield heard
        post_save.disconnect(begin, sender=Effect)

    def test_signal_of_a_write_of_the_run_itself(self, on_effect, play, script, offer):
        def act(context):
            """Have an effect."""
            Effect.objects.create(key="act", run=context.run_id)

        offer(act, effect="write", policy="allow")
        script.add(*[reply("", call("act")), "Done."] * 5)
        run = play("Act")
        while on_effect and isinstance(on_effect[-1], starts.StartedRun):
            heard = len(on_effect)
            run = answered(resume(on_effect[-1].run))
            if len(on_effect) == heard:
                break

        assert [getattr(one, "code", "started") for one in on_effect] == [
            *["started"] * 3,
            "too_deep",
        ]
        assert statuses(run) == ["failed"]
        assert run.calls.get().error.startswith(
            "3 runs of the assistant have started one another"
        )
        assert Effect.objects.count() == 3  # the last was taken back with its call

    def test_signal_of_its_end(self, start, script, settled):
        begun = []

        def begin(**_):
            begun.append(start("And again"))

        run_finished.connect(begin)
        try:
            script.add(*["Done."] * 9)
            resume(start().run)
            settled(lambda: len(begun) == 1)
            resume(begun[0].run)
            settled(lambda: len(begun) == 2)
            resume(begun[1].run)
            settled(lambda: True)
        finally:
            run_finished.disconnect(begin)

        assert [one.run.start_depth for one in begun] == [2, 3]

    def test_hook_of_its_end(self, start, script):
        seen = []

        with registry.restored():

            @ai_assistant.hook("run_finished")
            def again(context, value):
                try:
                    seen.append(start("And again"))
                except Refused as refusal:
                    seen.append(refusal.code)

            script.add(*["Done."] * 9)
            run = start().run
            while run is not None:
                run = resume(run)
                last = seen[-1]
                run = None if last == "too_deep" else last.run

        assert seen[2:] == ["too_deep"]

    def test_hook_of_a_message_that_starts_another(self, start):
        seen = []

        with registry.restored():

            @ai_assistant.hook("user_message_received", timeout_s=30)
            def again(context, value):
                try:
                    start("And again")
                except Refused as refusal:
                    seen.append(refusal.code)

            start()

        assert seen == ["too_deep"]
        assert Run.objects.count() == 3

    def test_repeat_is_harmless_however_deep(self, start):
        first = start(key="order-5")

        with at_depth(starts.MOST_STARTS):
            assert start(key="order-5").run_id == first.run_id
            assert refused(start)[0] == "too_deep"

    def test_what_a_person_sends_stands_below_nothing(self, start, play, script):
        script.add("One.", "Two.")
        first = resume(start().run)

        run = play("And now?", conversation_id=first.conversation_id)

        assert run.start_depth == 0


@pytest.fixture
def settled():
    """Wait for what receivers do in threads of their own."""

    def wait(is_so):
        for _ in range(500):
            units._tools.submit(lambda: None).result()
            if is_so():
                return
            asyncio.run(asyncio.sleep(0.01))
        raise AssertionError

    return wait


def answered(run):
    """Approve what the run waits for, as its person; return it as it ends."""
    assert run.state == "waiting_approval"
    answer(given(run, "approve", stamp=run_stamp()))
    return resume(run)
